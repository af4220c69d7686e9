/** Owns what each npm command does first: check Node, install when the lockfile changed, then run the command. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installStale, recordInstall, storeArguments, tooOld } from './bootstrap/state.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const commands = {
  start: ['--import', 'tsx', 'examples/coding-agent/start.ts'],
  check: ['scripts/check.mjs'],
  sluice: ['--import', 'tsx', 'packages/host/cli/src/main.ts'],
}

function say(line) {
  process.stderr.write(`sluice: ${line}\n`)
}

function fail(line) {
  say(line)
  process.exit(1)
}

/** Runs a program with our own `node_modules/.bin` first on the path; `stdio` is that of `spawn`. Returns its exit code. */
function run(file, args, stdio, extra = {}) {
  const path = [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter)
  const shell = process.platform === 'win32' && file !== process.execPath
  const { status, signal, error } = spawnSync(file, args, {
    stdio,
    shell,
    env: { ...process.env, ...extra, PATH: path, SLUICE_CALLER_CWD: process.env.INIT_CWD || process.cwd() },
    cwd: root,
  })
  if (error) fail(`cannot run ${file}: ${error.message}`)
  if (signal === 'SIGINT') return 130
  return status === null ? 1 : status
}

function install() {
  if (!installStale(root)) return
  say('installing packages (only when the lockfile has changed)')
  const options = ['--frozen-lockfile', '--reporter=append-only', ...storeArguments(root)]
  const args = ['-y', manifest.packageManager, 'install', ...options]
  // What the command prints may be read by a program, so the installation prints to standard error.
  // `npm run -s` asks everything below it to be silent, also about why it failed.
  const code = run('npx', args, ['inherit', 2, 'inherit'], { npm_config_loglevel: 'notice' })
  if (code !== 0)
    fail(`the installation ended with code ${code}, for the reason above; then run the same command again`)
  recordInstall(root)
}

const [name, ...rest] = process.argv.slice(2)
const command = Object.hasOwn(commands, name) ? commands[name] : undefined
const minimum = /\d[\d.]*/.exec(manifest.engines.node)[0]
if (tooOld(process.versions.node, minimum)) {
  fail(`Node ${process.versions.node} is too old; Sluice needs Node ${minimum} or newer`)
}
if (command === undefined) fail(`unknown command ${name}; there is: ${Object.keys(commands).join(', ')}`)
// The terminal sends Ctrl-C to the whole group; the command itself decides how to end.
process.on('SIGINT', () => {})
install()
process.exit(run(process.execPath, [...command, ...rest], 'inherit'))
