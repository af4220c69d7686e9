/** Owns `pnpm check`: runs every step through turbo and ends with a table of steps and one line of counts. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tally } from './check/tally.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const runs = join(root, '.turbo', 'runs')
const testReport = join(root, '.turbo', 'vitest.json')

const steps = ['format:check', 'lint', 'types', 'docs:check', 'knip', 'unit']

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function latestSummary() {
  try {
    const [file] = readdirSync(runs)
    return file === undefined ? undefined : readJson(join(runs, file))
  } catch {
    return undefined
  }
}

rmSync(runs, { recursive: true, force: true })
rmSync(testReport, { force: true })
// Two at a time; the tests come last and alone, because they use two workers of their own and some measure time.
const turbo = spawnSync(
  join(root, 'node_modules', '.bin', 'turbo'),
  [
    'run',
    ...steps.map((step) => `//#${step}`),
    '--continue=always',
    '--concurrency=2',
    '--summarize',
    '--ui=stream',
    '--log-order=grouped',
    '--log-prefix=none',
    '--output-logs=errors-only',
    '--no-update-notifier',
    ...process.argv.slice(2),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: {
      ...process.env,
      PATH: [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
      TURBO_TELEMETRY_DISABLED: '1',
    },
  },
)
const result = tally(steps, latestSummary(), readJson(testReport))
process.stdout.write(`\n${result.lines.join('\n')}\n${result.passed} passed, ${result.failed} failed\n`)
process.exit(result.failed > 0 || turbo.status !== 0 ? 1 : 0)
