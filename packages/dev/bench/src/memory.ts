/** Measures how much memory floods and huge files cost, each in a process of its own. Fails beyond the bound. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as store from '@sluice/store-jsonl'
import { type CallTool, mountTools } from './mount-tools.ts'

const BYTES = 2_000_000_000
const LINE = 'a line of a huge file\n'
const BOUND_MB = 100

interface MemoryCase {
  readonly what: string
  /** Done before memory is looked at. */
  readonly before?: string
  readonly run: (call: CallTool) => Promise<unknown>
}

const file = `yes '${LINE.trim()}' | head -c ${BYTES} > huge.txt`
const read = (offset: number) => (call: CallTool) => call('read', { path: 'huge.txt', offset, limit: 200 })

const cases: readonly MemoryCase[] = [
  {
    what: 'a command that prints 2 GB in short lines',
    run: (call) => call('bash', { command: `yes | head -c ${BYTES}` }),
  },
  {
    what: 'a command that prints 2 GB as one line',
    run: (call) => call('bash', { command: `head -c ${BYTES} /dev/zero | tr '\\0' x` }),
  },
  { what: 'the first lines of 2 GB', before: file, run: read(1) },
  { what: 'lines from the middle of 2 GB', before: file, run: read(Math.floor(BYTES / LINE.length / 2)) },
  { what: 'the last lines of 2 GB', before: file, run: read(Math.floor(BYTES / LINE.length) - 100) },
  { what: 'a search in 2 GB', before: file, run: (call) => call('grep', { pattern: 'of a huge', path: 'huge.txt' }) },
]

interface Peak {
  readonly baselineMb: number
  readonly peakMb: number
}

/** Runs in a process of its own, whose highest use of memory the system then knows. */
async function peakOf({ before, run }: MemoryCase, root: string): Promise<Peak> {
  // What is kept of output goes to disk, as it does for a user.
  const call = await mountTools(root, (ctx) => ctx.plugin(store, { dir: join(root, 'sessions') }))
  await call('bash', { command: before ? `[ -e huge.txt ] || ${before}` : 'true' })
  globalThis.gc?.()
  const baselineMb = process.memoryUsage.rss() / 1e6
  await run(call)
  return { baselineMb, peakMb: process.resourceUsage().maxRSS / 1e3 }
}

function measureApart(at: number, root: string): Peak {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), `--case=${at}`, `--root=${root}`]
  const { stdout, status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  if (status !== 0) throw new Error(`${cases[at]?.what} failed`)
  return JSON.parse(stdout.toString()) as Peak
}

const option = (name: string) => process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3)
const own = cases[Number(option('case') ?? -1)]
if (own) {
  process.stdout.write(JSON.stringify(await peakOf(own, option('root') ?? tmpdir())))
  process.exit(0)
}

const root = mkdtempSync(join(tmpdir(), 'sluice-memory-'))
let over = 0
console.log(`Node ${process.version}; resident memory in MB, at most ${BOUND_MB} above the baseline.\n`)
console.log('| What | Baseline | Peak | Above |\n| --- | ---: | ---: | ---: |')
try {
  for (const [at, { what }] of cases.entries()) {
    const { baselineMb, peakMb } = measureApart(at, root)
    const above = peakMb - baselineMb
    if (above > BOUND_MB) over++
    console.log(`| ${what} | ${[baselineMb, peakMb, above].map((mb) => mb.toFixed(0)).join(' | ')} |`)
  }
} finally {
  rmSync(root, { recursive: true, force: true })
}
process.exit(over > 0 ? 1 : 0)
