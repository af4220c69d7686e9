import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, normalize } from 'node:path'
import { type Disk, isDiskError, type OpenOptions } from '@sluice/base'
import { type SimRandom, seededRandom, simWorld } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { nodeWorld } from '../src/index.ts'

const SEEDS = 15 * Number(process.env['SLUICE_SEEDS_FACTOR'] ?? 1)
const OPERATIONS = 80

interface Operation {
  readonly name: string
  readonly run: (disk: Disk, root: string) => Promise<unknown>
}

const names = ['a', 'b', 'c']

/** Ends in a name: kernels disagree on names that end in a slash or in dots, and callers normalise them. */
function somePath(random: SimRandom): string {
  const parents = Array.from({ length: random.int(3) }, () => random.pick([...names, ...names, '..', '.']))
  return ['/deep/er', ...parents, random.pick(names)].join('/')
}

function someOptions(random: SimRandom): OpenOptions {
  const flag = () => random.int(2) === 0
  const write = flag()
  const create = write && flag()
  return { read: flag(), write, create, exclusive: create && flag(), truncate: write && flag(), noFollow: flag() }
}

async function openAndUse(disk: Disk, path: string, options: OpenOptions, size: number): Promise<unknown> {
  const file = await disk.open(path, options)
  try {
    const { kind } = await file.stat()
    if (options.write) {
      await file.write(new Uint8Array(size).fill(65 + size), size)
      await file.truncate(size + 1)
    }
    const into = new Uint8Array(32)
    const read = options.write && !options.read ? 0 : await file.read(into, 0)
    return [kind, (await file.stat()).size, read, [...into]]
  } finally {
    await file.close()
  }
}

function operation(random: SimRandom): Operation {
  const [from, to] = [somePath(random), somePath(random)]
  const simple = (name: string, run: (disk: Disk, path: string) => Promise<unknown>): Operation => ({
    name: `${name} ${from}`,
    run: (disk, root) => run(disk, root + from),
  })
  const options = someOptions(random)
  const size = random.int(8)
  const target = random.pick(['a', 'b', '../a', './b/c', 'none', '../../er/c'])
  return random.pick<() => Operation>([
    () => simple(`open ${JSON.stringify(options)}`, (disk, path) => openAndUse(disk, path, options, size)),
    () => simple('mkdir -p', (disk, path) => disk.mkdir(normalize(path), { recursive: true })),
    () => simple('mkdir', (disk, path) => disk.mkdir(path)),
    () => simple('unlink', (disk, path) => disk.unlink(path)),
    () => simple('rmdir', (disk, path) => disk.rmdir(path)),
    () => simple(`symlink ${target}`, (disk, path) => disk.symlink(target, path)),
    () => simple('readlink', (disk, path) => disk.readlink(path)),
    () => simple('stat', async (disk, path) => (await disk.stat(path)).kind),
    () => simple('lstat', async (disk, path) => (await disk.lstat(path)).kind),
    () => simple('syncDir', (disk, path) => disk.syncDir(path)),
    () => ({
      name: `realpath ${from}`,
      run: async (disk, root) => (await disk.realpath(root + from)).slice(root.length),
    }),
    () => ({ name: `rename ${from} ${to}`, run: (disk, root) => disk.rename(root + from, root + to) }),
    () => ({ name: `link ${from} ${to}`, run: (disk, root) => disk.link(root + from, root + to) }),
  ])()
}

async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return (await work) ?? 'done'
  } catch (error) {
    if (isDiskError(error)) return error.code
    throw error
  }
}

/** Every path below with kind, links, size and mode. */
async function picture(disk: Disk, path: string, root = path): Promise<string[]> {
  const lines: string[] = []
  for (const { name, kind } of await disk.readdir(path)) {
    const { links, size, mode } = await disk.lstat(`${path}/${name}`)
    const shown = kind === 'directory' ? '' : ` ${links} ${size}`
    lines.push(`${`${path}/${name}`.slice(root.length)} ${kind}${shown} ${mode.toString(8)}`)
    if (kind === 'directory') lines.push(...(await picture(disk, `${path}/${name}`, root)))
  }
  return lines.sort()
}

async function compare(seed: number): Promise<void> {
  const real = nodeWorld()
  const sim = simWorld({ uid: process.getuid?.() ?? 1000, host: { umask: real.host.umask } })
  const realRoot = realpathSync(mkdtempSync(join(tmpdir(), 'disk-honesty-')))
  const random = seededRandom(seed)
  const history: string[] = []
  try {
    for (const [disk, root] of [[real.disk, realRoot] as const, [sim.disk, '/proj'] as const]) {
      await disk.mkdir(`${root}/deep/er`, { recursive: true })
    }
    for (let i = 0; i < OPERATIONS; i++) {
      const { name, run } = operation(random)
      const [wanted, got] = [await outcomeOf(run(real.disk, realRoot)), await outcomeOf(run(sim.disk, '/proj'))]
      history.push(`${name}: ${JSON.stringify(wanted)}`)
      expect(got, `seed ${seed}\n${history.slice(-30).join('\n')}`).toEqual(wanted)
    }
    expect(await picture(sim.disk, '/proj')).toEqual(await picture(real.disk, realRoot))
  } finally {
    rmSync(realRoot, { recursive: true, force: true })
  }
}

describe.runIf(process.platform === 'linux')('the simulated disk', () => {
  it('answers random operations exactly as the real one does', async () => {
    for (let seed = 1; seed <= SEEDS; seed++) await compare(seed)
  })
})
