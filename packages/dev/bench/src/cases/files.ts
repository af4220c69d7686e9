/** Owns T15 and T16: searching, reading and changing files through the tools, against bare programs and system calls. */
import { execFile } from 'node:child_process'
import * as sync from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rgPath } from '@vscode/ripgrep'
import * as store from '@sluice/store-jsonl'
import type { Plugin } from 'cordis'
import { glob } from 'tinyglobby'
import type { Candidate, Case } from '../measure.ts'
import { type CallTool, mountTools } from '../mount-tools.ts'

const FOLDERS = 500
const FILES_EACH = 40
const LINES = 1_000_000
const EDITS = 20

const root = join(tmpdir(), `sluice-bench-${process.pid}`)
const tree = join(root, 'tree')
const big = join(root, 'big.txt')
const body = 'export function thing(a: number) {\n  return a * 2 // plain text filler\n}\n'.repeat(50)
const small = `${'a'.repeat(4_000)}\nvalue = 0\n${'b'.repeat(80)}\n`

/** 20,000 files of 3.7 KB, of which 50 hold the needle, and one file of 42 MB; made once. */
function makeFiles(): void {
  if (sync.existsSync(root)) return
  for (let d = 0; d < FOLDERS; d++) {
    const folder = join(tree, `pkg${d % 50}`, `dir${d}`)
    sync.mkdirSync(folder, { recursive: true })
    for (let f = 0; f < FILES_EACH; f++) {
      const content = f === 7 && d % 10 === 0 ? `${body}needleXYZ ${d}\n` : body
      sync.writeFileSync(join(folder, `f${f}.${f % 4 ? 'ts' : 'md'}`), content)
    }
  }
  const line = (i: number) => `line ${i}: the quick brown fox jumps over\n`
  const part = LINES / 10
  for (let at = 0; at < LINES; at += part) {
    sync.appendFileSync(big, Array.from({ length: part }, (_, i) => line(at + i)).join(''))
  }
  for (const name of ['floor.txt', 'ours.txt', 'logged.txt']) sync.writeFileSync(join(root, name), small)
}

/** Mounts once, without a log on disk. */
const plain = mounting(() => mountTools(root))
const logged = mounting(() =>
  mountTools(root, (ctx) => ctx.plugin(store as Plugin, { dir: join(root, 'logs') } as never)),
)

function mounting(mount: () => Promise<CallTool>): () => Promise<CallTool> {
  let mounted: Promise<CallTool> | undefined
  return () => {
    makeFiles()
    return (mounted ??= mount())
  }
}

function ours(name: string, run: (call: CallTool) => unknown, mount = plain): Candidate {
  return {
    name,
    async prepare() {
      const call = await mount()
      return () => run(call)
    },
  }
}

function floor(name: string, run: () => unknown): Candidate {
  return {
    name,
    prepare() {
      makeFiles()
      return run
    },
  }
}

/** What the other left behind, some 100 MB, is not collected in the time of this one. */
function collected(candidate: Candidate): Candidate {
  return {
    ...candidate,
    async prepare() {
      const run = await candidate.prepare()
      globalThis.gc?.()
      return run
    },
  }
}

const rg = (args: readonly string[]) => promisify(execFile)(rgPath, [...args], { cwd: tree, maxBuffer: 1 << 28 })

/** Temporary file, data on disk, rename, folder on disk: as little as a durable change can do. */
function replaceDurably(path: string, bytes: string, parent = root): void {
  const temporary = `${path}.tmp`
  const file = sync.openSync(temporary, 'wx')
  sync.writeSync(file, bytes)
  sync.fdatasyncSync(file)
  sync.closeSync(file)
  sync.renameSync(temporary, path)
  const folder = sync.openSync(parent, 'r')
  sync.fsyncSync(folder)
  sync.closeSync(folder)
}

const bareEdit = (path: string, number: number) =>
  replaceDurably(path, sync.readFileSync(path, 'utf8').replace(/value = \d+/, `value = ${number}`))

/** As {@link bareEdit}, after a record in a log and the bytes from before in a file of their own. */
function bareEditWithLog(path: string, number: number): void {
  const [log, blobs] = [join(root, 'bare.log'), join(root, 'bare-blobs')]
  sync.mkdirSync(blobs, { recursive: true })
  const file = sync.openSync(log, 'a')
  sync.writeSync(file, `${JSON.stringify({ path, number })}\n`)
  sync.fdatasyncSync(file)
  sync.closeSync(file)
  replaceDurably(join(blobs, String(number)), sync.readFileSync(path, 'utf8'), blobs)
  bareEdit(path, number)
}

function editing(name: string, path: string, mount: () => Promise<CallTool>): Candidate {
  let edits = 0
  const run = async (call: CallTool) => {
    for (let i = 0; i < EDITS; i++, edits++) {
      await call('edit', { path, edits: [{ oldText: `value = ${edits}`, newText: `value = ${edits + 1}` }] })
    }
  }
  return ours(name, run, mount)
}

export const fileCases: readonly Case[] = [
  {
    id: 'T15g',
    what: 'grep of a rare word in 20,000 files, against ripgrep alone',
    units: 1,
    rounds: 9,
    clock: 'wall',
    floor: floor('rg', () => rg(['needleXYZ', '.'])),
    ours: ours('grep', (call) => call('grep', { pattern: 'needleXYZ', path: 'tree' })),
    target: 1.15,
  },
  {
    id: 'T15f',
    what: 'the same, which files only',
    units: 1,
    rounds: 9,
    clock: 'wall',
    floor: floor('rg -l', () => rg(['-l', 'needleXYZ', '.'])),
    ours: ours('grep', (call) => call('grep', { pattern: 'needleXYZ', path: 'tree', output: 'files' })),
    target: 1.15,
  },
  {
    id: 'T15n',
    what: 'glob of 15,000 of 20,000 files, newest first, against tinyglobby, which does not sort',
    units: 1,
    rounds: 9,
    clock: 'wall',
    floor: floor('tinyglobby', () => glob('**/*.ts', { cwd: tree })),
    ours: ours('glob', (call) => call('glob', { pattern: '**/*.ts', path: 'tree' })),
    target: 1,
  },
  {
    id: 'T15r',
    what: '200 lines from the middle of 42 MB, against readFile and split',
    units: 1,
    rounds: 9,
    clock: 'wall',
    floor: collected(
      floor('readFile + split', () => sync.readFileSync(big, 'utf8').split('\n').slice(500_000, 500_200)),
    ),
    ours: collected(ours('read', (call) => call('read', { path: 'big.txt', offset: 500_001, limit: 200 }))),
    target: 0.25,
  },
  {
    id: 'T16',
    what: 'durable edit of a file of 4 KB, against write, fdatasync, rename and fsync of the folder',
    units: EDITS,
    rounds: 25,
    clock: 'wall',
    floor: floor('bare', () => {
      for (let i = 0; i < EDITS; i++) bareEdit(join(root, 'floor.txt'), i + 1)
    }),
    ours: editing('edit', 'ours.txt', plain),
    target: 1.5,
  },
  {
    id: 'T16l',
    what: 'the same with the log and the bytes from before on disk, against one synced record and one more such file',
    units: EDITS,
    rounds: 25,
    clock: 'wall',
    floor: floor('bare', () => {
      for (let i = 0; i < EDITS; i++) bareEditWithLog(join(root, 'floor.txt'), i + 1)
    }),
    ours: editing('edit', 'logged.txt', logged),
    target: 1.5,
    close: async () => sync.rmSync(root, { recursive: true, force: true }),
  },
]
