import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Disk, World } from '@sluice/base'
import type { SessionEvent } from '@sluice/session'
import { simWorld } from '@sluice/testkit'
import { nodeWorld } from '@sluice/world-node'
import { afterEach, expect, test } from 'vitest'
import { fileTools } from './file-tools.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** The tools on the real disk, in a folder of their own. */
async function onDisk() {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'sluice-files-')))
  const cwd = join(root, 'workspace')
  await mkdir(cwd)
  const world = nodeWorld()
  const bench = await fileTools({ ...world, host: { ...world.host, env: { PATH: world.host.env['PATH'] } } }, cwd)
  ends.push(
    () => rm(root, { recursive: true, force: true }),
    async () => world.dispose(),
    () => bench.close(),
  )
  return { ...bench, cwd, root }
}

/** The tools on a simulated World. */
async function simulated(options: Parameters<typeof simWorld>[0]) {
  const world = simWorld({ autoAdvance: true, ...options })
  const bench = await fileTools(world, '/proj')
  ends.push(() => bench.close())
  return { ...bench, world }
}

/** Runs `swap` right before the operation `op` on a path that `at` matches, once it is armed. */
function swapping(world: World, op: keyof Disk, at: RegExp, swap: () => Promise<unknown>) {
  const seam = { armed: false }
  const disk = new Proxy(world.disk, {
    get(target, name) {
      const work: unknown = Reflect.get(target, name)
      if (typeof work !== 'function') return work
      return async (...given: unknown[]) => {
        if (name === op && seam.armed && at.test(String(given[0]))) {
          seam.armed = false
          await swap()
        }
        return Reflect.apply(work, target, given) as unknown
      }
    },
  })
  return { seam, swapped: { ...world, disk } }
}

test.each(['lstat', 'open', 'rename'] as const)(
  'a folder that is swapped for a link before %s shows and changes nothing outside',
  async (op) => {
    for (const tool of ['read', 'write', 'edit'] as const) {
      const world = simWorld({ autoAdvance: true, files: { '/proj/d/f': 'inside\n', '/out/f': 'beyond\n' } })
      const { seam, swapped } = swapping(world, op, /^\/proj\/d\/(f|\.sluice)/, async () => {
        await world.disk.rename('/proj/d', '/proj/moved')
        await world.disk.symlink('/out', '/proj/d')
      })
      const { call, close } = await fileTools(swapped, '/proj')
      ends.push(close)
      if (tool !== 'read') await call('read', { path: 'd/f' })
      seam.armed = true
      const edits = [{ oldText: 'inside', newText: 'changed' }]
      const text = await call(tool, {
        path: 'd/f',
        ...(tool === 'write' && { content: 'x\n' }),
        ...(tool === 'edit' && { edits }),
      })
      expect(text).not.toContain('beyond')
      expect(world.disk.tree('/out')).toEqual({ '/out/f': 'beyond\n' })
      expect(seam.armed).toBe(op === 'rename' && tool === 'read')
    }
  },
)

// BUG-055
test('of a file of 200 MB lines are read at once, and a change is refused with its bound', async () => {
  const { call, edit, cwd } = await onDisk()
  await writeFile(join(cwd, 'big'), 'first\nsecond\n')
  await truncate(join(cwd, 'big'), 200_000_000)
  expect(await call('read', { path: 'big', limit: 1 })).toMatch(/1│first\n[\s\S]*67108864 bytes/)
  expect(await edit('big', 'first', '1st')).toMatch(/^failed: .*200000000 bytes are more than the 67108864/)
  expect(await call('write', { path: 'big', content: 'x' })).toMatch(/^failed: .*67108864/)
  expect((await call('grep', { pattern: 'first', path: 'big' })).length).toBeLessThan(500)
})

// BUG-055
test('of a file of one line of 50 MB an excerpt is read, a search is bounded, and an edit changes it alone', async () => {
  const { call, edit, cwd } = await onDisk()
  const line = Buffer.alloc(50_000_000, 'x')
  line.write('needle', 49_000_000)
  await writeFile(join(cwd, 'line'), line)
  const shown = await call('read', { path: 'line' })
  expect(shown.length).toBeLessThan(3_000)
  expect(shown).toContain('it has 50000000 bytes')
  expect(await call('grep', { pattern: 'needle' })).toBe('line\n  [lines that match are too long to be shown]')
  expect((await edit('line', 'needle', 'thread')).length).toBeLessThan(5_000)
  line.write('thread', 49_000_000)
  expect(line.equals(await readFile(join(cwd, 'line')))).toBe(true)
})

test('a FIFO is refused by every tool at once, and a search passes it by', async () => {
  const { call, edit, cwd } = await onDisk()
  execFileSync('mkfifo', [join(cwd, 'fifo')])
  await writeFile(join(cwd, 'f'), 'text\n')
  for (const text of [
    await call('read', { path: 'fifo' }),
    await edit('fifo', 'a', 'b'),
    await call('write', { path: 'fifo', content: 'x' }),
  ]) {
    expect(text).toContain('is a fifo, not a file')
  }
  expect(await call('grep', { pattern: 'text' })).toBe('f\n  1: text')
  expect(await call('list', {})).toContain('fifo')
})

interface Found {
  readonly paths?: readonly string[]
  readonly files?: readonly { readonly path: string }[]
}

/** Every character that a name may hold, below 128, and some beyond. */
const odd = `${Array.from({ length: 127 }, (_, i) => String.fromCharCode(i + 1)).join('')}é你😀`.replace('/', '')

// BUG-057
test.each([
  ['with every odd character', odd],
  ['that looks like an option', '--help'],
  ['that looks like a pattern', '[a]{b,c}(d)*?'],
  ['that ends in blanks', 'a  '],
  ['of objects themselves', '__proto__'],
])('a path %s is written, read, changed, found and listed as it is', async (_, name) => {
  const { call, edit, session, cwd } = await onDisk()
  const path = `${name}/${name}`
  expect(await call('write', { path, content: 'needle\n' })).not.toMatch(/^failed/)
  expect(await call('read', { path })).toContain('needle')
  expect(await edit(path, 'needle', 'thread')).not.toMatch(/^failed/)
  expect(await readFile(join(cwd, path), 'utf8')).toBe('thread\n')
  const valueOf = () => (session.events.at(-1) as SessionEvent<'tool/result'>).data.value as Found
  await call('glob', { pattern: path })
  expect(valueOf().paths).toEqual([path])
  await call('grep', { pattern: 'thread', path: name })
  expect(valueOf().files?.map((file) => file.path)).toEqual([path])
  await call('list', { path: name })
  expect(valueOf()).toMatchObject({ entries: [{ name, kind: 'file', size: 7 }] })
})

test('two Unicode forms of a name are two files where the disk keeps them apart, and one where it does not', async () => {
  const [composed, decomposed] = ['\u00e9.txt', 'e\u0301.txt']
  const apart = await onDisk()
  await apart.call('write', { path: composed, content: 'composed\n' })
  await apart.call('write', { path: decomposed, content: 'decomposed\n' })
  expect((await readdir(apart.cwd)).sort()).toEqual([decomposed, composed])
  expect(await apart.call('read', { path: composed })).toContain('│composed')

  const one = await simulated({ naming: 'folding', files: { [`/proj/${composed}`]: 'old\n' } })
  await one.call('read', { path: composed })
  expect(await one.edit(decomposed, 'old', 'new')).not.toMatch(/^failed/)
  expect(await one.call('write', { path: decomposed, content: 'newer\n' })).not.toMatch(/^failed/)
  expect(one.world.disk.tree('/proj')).toEqual({ [`/proj/${composed}`]: 'newer\n' })
})

test('in a folder that may not be written files are read, and every change is refused and leaves nothing', async () => {
  const files = { '/proj/d': { directory: true, mode: 0o555 }, '/proj/d/f': 'old\n' } as const
  const { call, edit, world } = await simulated({ files })
  expect(await call('read', { path: 'd/f' })).toContain('old')
  for (const text of [
    await edit('d/f', 'old', 'new'),
    await call('write', { path: 'd/f', content: 'new\n' }),
    await call('write', { path: 'd/new', content: 'x\n' }),
    await call('write', { path: 'd/deep/new', content: 'x\n' }),
  ]) {
    expect(text).toMatch(/^failed: the system does not allow to write/)
  }
  expect(world.disk.tree('/proj/d')).toEqual({ '/proj/d/f': 'old\n' })
})

test('on a full disk every change is refused and leaves the old content, and works once there is room', async () => {
  const { call, edit, world } = await simulated({ files: { '/proj/f': 'old\n' } })
  await call('read', { path: 'f' })
  world.disk.limit(8)
  for (const text of [
    await edit('f', 'old', 'longer than what is left'),
    await call('write', { path: 'f', content: 'longer than what is left\n' }),
    await call('write', { path: 'new', content: 'longer than what is left\n' }),
  ]) {
    expect(text).toMatch(/^failed: .*ENOSPC/)
  }
  expect(world.disk.tree('/proj')).toEqual({ '/proj/f': 'old\n' })
  world.disk.limit(undefined)
  expect(await edit('f', 'old', 'longer than what was left')).not.toMatch(/^failed/)
})
