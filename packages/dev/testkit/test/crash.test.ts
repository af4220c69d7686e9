import type { Disk, OpenOptions } from '@sluice/base'
import { describe, expect, it } from 'vitest'
import { crashStates, everyCrash, keepAtRandom, keepPrefix, SimCrash, type SimDisk, simWorld } from '../src/index.ts'

const fresh: OpenOptions = { read: true, write: true, create: true, exclusive: true }
const bytes = (text: string) => new TextEncoder().encode(text)
const PATH = '/proj/a'

/** A file with `old` on disk, and `new` written over it but not synced. */
async function half(): Promise<SimDisk> {
  const { disk } = simWorld({ files: { [PATH]: 'old' } })
  const file = await disk.open(PATH, { write: true })
  await file.write(bytes('newer'), 0)
  return disk
}

describe('a crash', () => {
  it('keeps or loses a write that no sync covered, or tears it at any byte', async () => {
    const left = async (keep: Parameters<SimDisk['afterCrash']>[0]['keep']) =>
      (await half()).afterCrash({ keep }).text(PATH)
    expect(await left('none')).toBe('old')
    expect(await left('all')).toBe('newer')
    expect(await left(0)).toBe('old')
    expect(await left(1)).toBe('newer')
    const torn = await Promise.all([1, 2, 3, 4].map((count) => left(keepPrefix(0, count))))
    expect(torn).toEqual(['nld', 'ned', 'new', 'newe'])
    expect(await left(keepPrefix(0, 'zeros'))).toBe('old\0\0')
  })

  it('never loses what datasync covered, and may lose what was written while it ran', async () => {
    const { disk } = simWorld({ files: { [PATH]: '' } })
    const file = await disk.open(PATH, { write: true })
    await file.write(bytes('one'), 0)
    const release = disk.hold('datasync')
    const syncing = file.datasync()
    await file.write(bytes('two'), 3)
    release()
    await syncing
    expect(disk.text(PATH)).toBe('onetwo')
    expect(disk.afterCrash({ keep: 'none' }).text(PATH)).toBe('one')
  })

  it('may lose a name that was made while its folder was synced', async () => {
    const { disk } = simWorld()
    await disk.mkdir('/proj/before')
    const release = disk.hold('syncDir')
    const syncing = disk.syncDir('/proj')
    await disk.mkdir('/proj/meanwhile')
    release()
    await syncing
    expect(disk.afterCrash({ keep: 'none' }).tree('/proj')).toEqual({ '/proj/before': null })
  })

  it('never loses a name whose folder was synced through its descriptor', async () => {
    const { disk } = simWorld()
    await disk.mkdir('/proj/dir')
    const folder = await disk.open('/proj', { read: true })
    await folder.sync()
    expect(disk.afterCrash({ keep: 'none' }).tree('/proj')).toEqual({ '/proj/dir': null })
  })

  it('never loses a mode that sync covered, and may lose one that only datasync came after', async () => {
    const modeAfter = async (how: 'sync' | 'datasync') => {
      const { disk } = simWorld({ files: { [PATH]: '' } })
      const file = await disk.open(PATH, { write: true })
      await file.chmod(0o600)
      await file[how]()
      return (await disk.afterCrash({ keep: 'none' }).stat(PATH)).mode
    }
    expect(await modeAfter('sync')).toBe(0o600)
    expect(await modeAfter('datasync')).toBe(0o644)
  })

  it('may lose a synced file whose name was not synced', async () => {
    const create = async (disk: Disk) => {
      const file = await disk.open(PATH, fresh)
      await file.write(bytes('x'), 0)
      await file.sync()
    }
    const { disk } = simWorld()
    await create(disk)
    expect(disk.afterCrash({ keep: 'none' }).text(PATH)).toBeUndefined()
    expect(disk.afterCrash({ keep: 'all' }).text(PATH)).toBe('x')
    const { disk: safe } = simWorld()
    await create(safe)
    await safe.syncDir('/proj')
    expect(safe.afterCrash({ keep: 'none' }).text(PATH)).toBe('x')
  })

  it('leaves the old or the new name of a renamed file until its folder is synced', async () => {
    const { disk } = simWorld({ files: { [PATH]: 'old', '/proj/b': 'new' } })
    await disk.rename('/proj/b', PATH)
    expect(disk.afterCrash({ keep: 'none' }).tree('/proj')).toEqual({ [PATH]: 'old', '/proj/b': 'new' })
    expect(disk.afterCrash({ keep: 'all' }).tree('/proj')).toEqual({ [PATH]: 'new' })
  })

  it('never loses a file that was moved between folders of which one was synced', async () => {
    for (const synced of ['/proj/from', '/proj/to']) {
      const { disk } = simWorld({ files: { '/proj/from/a': 'text', '/proj/to': null } })
      await disk.rename('/proj/from/a', '/proj/to/a')
      await disk.syncDir(synced)
      expect(disk.afterCrash({ keep: 'none' }).text('/proj/to/a')).toBe('text')
    }
  })

  it('never brings back the old name of a file that was moved and synced', async () => {
    const { disk } = simWorld({ files: { '/proj/from': null, '/proj/to': null } })
    await disk.open('/proj/from/a', fresh)
    await disk.rename('/proj/from/a', '/proj/to/a')
    await disk.syncDir('/proj/to')
    expect(disk.afterCrash({ keep: 'all' }).tree('/proj')).toEqual({ '/proj/from': null, '/proj/to/a': '' })
  })

  it('counts the links that are left', async () => {
    const { disk } = simWorld({ files: { [PATH]: 'x' } })
    await disk.link(PATH, '/proj/b')
    await disk.syncDir('/proj')
    await disk.unlink(PATH)
    expect((await disk.afterCrash({ keep: 'none' }).stat(PATH)).links).toBe(2)
    expect((await disk.afterCrash({ keep: 'all' }).stat('/proj/b')).links).toBe(1)
  })

  it('comes before the chosen effect and ends everything after it', async () => {
    const { disk } = simWorld({ files: { [PATH]: 'old' } })
    disk.crashAt(2)
    const file = await disk.open(PATH, { write: true })
    await file.write(bytes('1'), 0)
    await expect(file.write(bytes('2'), 1)).rejects.toThrow(SimCrash)
    await expect(file.datasync()).rejects.toThrow(SimCrash)
    await expect(disk.stat(PATH)).rejects.toThrow('died before disk effect 2')
    expect(disk.afterCrash({ keep: 'all' }).text(PATH)).toBe('1ld')
  })

  it('ends operations that were under way, too', async () => {
    const { disk } = simWorld({ files: { [PATH]: 'old' } })
    const file = await disk.open(PATH, { write: true })
    const releases = [disk.hold('write'), disk.hold('read')]
    const writing = file.write(bytes('new'), 0)
    const reading = file.read(new Uint8Array(3), 0)
    const after = disk.afterCrash({ keep: 'all' })
    for (const release of releases) release()
    await expect(writing).rejects.toThrow(SimCrash)
    await expect(reading).rejects.toThrow(SimCrash)
    expect([disk.text(PATH), after.text(PATH)]).toEqual(['old', 'old'])
  })

  it('leaves a disk that works, and may crash again', async () => {
    const found = (await half()).afterCrash({ keep: 'all' })
    found.crashAt(2)
    const file = await found.open(PATH, { write: true })
    await file.truncate(0)
    await expect(file.datasync()).rejects.toThrow(SimCrash)
    expect(found.afterCrash({ keep: 'none' }).text(PATH)).toBe('newer')
  })

  it('loses everything on a device that lies about syncs', async () => {
    const { disk } = simWorld({ fsync: 'none', files: { [PATH]: 'old' } })
    const file = await disk.open(PATH, { write: true })
    await file.write(bytes('new'), 0)
    await file.sync()
    expect(disk.afterCrash({ keep: 'none' }).text(PATH)).toBe('old')
  })

  it('ends the world: time goes on, nothing runs, the process is another', async () => {
    const world = simWorld({ files: { [PATH]: 'old' } })
    world.processes.on('server', () => {})
    await world.processes.spawn({ file: 'server', args: [], cwd: '/', env: {} })
    const after = world.reboot({ keep: 'all' })
    expect(after.processes.alive).toEqual([])
    expect(after.clock.now()).toBeGreaterThan(world.clock.now())
    expect(after.host.pid).not.toBe(world.host.pid)
    expect(after.disk.text(PATH)).toBe('old')
  })
})

/** Replaces a file so that it always holds the old or the new text. */
async function replace(disk: Disk, steps: { sync: boolean }): Promise<void> {
  const file = await disk.open(`${PATH}.tmp`, fresh)
  await file.write(bytes('the new text'), 0)
  if (steps.sync) await file.sync()
  await file.close()
  await disk.rename(`${PATH}.tmp`, PATH)
  await disk.syncDir('/proj')
}

describe('everyCrash', () => {
  const make = () => simWorld({ files: { [PATH]: 'old' } })

  it('finds an atomic replacement whole after every crash', async () => {
    const seen = new Set<string | undefined>()
    const states = await everyCrash({
      make,
      act: ({ disk }) => replace(disk, { sync: true }),
      async check({ disk }) {
        seen.add(disk.text(PATH))
        expect(['old', 'the new text']).toContain(disk.text(PATH))
      },
    })
    expect(seen).toEqual(new Set(['old', 'the new text']))
    expect(states).toBeGreaterThan(15)
  })

  it('finds the fault of a replacement that is not synced before its rename, and says when', async () => {
    const run = everyCrash({
      make,
      act: ({ disk }) => replace(disk, { sync: false }),
      states: (disk) => [{ label: 'names only', keep: (effect) => effect.kind === 'names' }, ...crashStates(disk)],
      check: async ({ disk }) => expect(['old', 'the new text']).toContain(disk.text(PATH)),
    })
    await expect(run).rejects.toThrow(/died before effect 4, names only: /)
  })

  it('ends although what was going on waits for ever after the death', async () => {
    const act = async ({ disk }: { disk: Disk }) => {
      await disk.mkdir('/proj/dir').catch(() => new Promise(() => {}))
    }
    expect(await everyCrash({ make, act, check: async () => {} })).toBe(3)
  })

  it('reports an error that no crash caused', async () => {
    const act = async () => {
      throw new Error('a fault of its own')
    }
    await expect(everyCrash({ make, act, check: async () => {} })).rejects.toThrow('a fault of its own')
  })

  it('finds any mixture when effects survive at random', async () => {
    const left = new Set<string | undefined>()
    for (let seed = 1; seed <= 40; seed++) {
      const world = simWorld({ seed, files: { [PATH]: 'old' } })
      await replace(world.disk, { sync: false }).catch(() => {})
      left.add(world.disk.afterCrash({ keep: keepAtRandom(world.random) }).text(PATH))
    }
    expect(left).toContain('')
    expect(left).toContain('the new text')
    expect([...left].some((text) => text?.includes('\0'))).toBe(true)
  })
})
