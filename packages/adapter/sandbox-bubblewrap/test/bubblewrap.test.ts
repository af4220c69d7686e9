import type { Confinement } from '@sluice/sandbox'
import { confinedTo } from '@sluice/sandbox/contract'
import { flushMicrotasks, type FileSeed, type ProgramHandler, type SimWorldOptions, simWorld } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { holdPlaces } from '../src/placeholders.ts'
import { adapterOn } from './adapter.ts'

const bwrap: FileSeed = { content: '', mode: 0o755 }

interface Setup {
  readonly files?: Record<string, FileSeed>
  readonly world?: SimWorldOptions
  /** What bwrap does; `missing`: it is there, and cannot be started. */
  readonly program?: ProgramHandler | 'missing'
}

async function setup({ files = { '/usr/bin/bwrap': bwrap }, world: more = {}, program = () => ({}) }: Setup = {}) {
  const tools: Record<string, FileSeed> = { '/usr/bin/bash': bwrap, '/proj/a': 'a', '/tmp/.keep': '' }
  const world = simWorld({ files: { ...tools, ...files }, autoAdvance: true, ...more })
  if (program !== 'missing') world.processes.on('bwrap', program)
  world.processes.plant({ pid: world.host.pid, startedAt: 'boot/1' })
  const { adapter, dispose } = await adapterOn(world)
  const spawn = (confinement: Partial<Confinement> = {}) => {
    const options = { file: 'bash', args: ['-c', 'x'], cwd: '/proj', env: { PATH: '/usr/bin' } }
    return adapter.spawn(options, confinedTo('/proj', confinement))
  }
  return { world, adapter, spawn, dispose }
}

test('without bubblewrap the status says what to install', async () => {
  const { adapter, world } = await setup({ files: {} })
  expect(await adapter.check()).toEqual({
    available: false,
    why: 'bubblewrap (bwrap) is not installed',
    remedy: 'Install the packages bubblewrap and socat.',
  })
  expect(world.processes.started).toEqual([])
})

test('a program of that name that cannot be run is none', async () => {
  const { adapter } = await setup({ files: { '/usr/bin/bwrap': 'text', '/bin/bwrap': null } })
  expect(await adapter.check()).toMatchObject({ available: false, why: 'bubblewrap (bwrap) is not installed' })
})

test('where bubblewrap fails, the status tells its words', async () => {
  const { adapter } = await setup({ program: () => ({ stderr: 'bwrap: No permissions\n', code: 1 }) })
  const why = 'bubblewrap cannot confine here: bwrap: No permissions'
  expect(await adapter.check()).toMatchObject({ available: false, why })
})

test('where it works, the status tells its version', async () => {
  const program: ProgramHandler = ({ args }) => (args[0] === '--version' ? { stdout: 'bubblewrap 0.8.0\n' } : {})
  const { adapter } = await setup({ program })
  expect(await adapter.check()).toEqual({ available: true, detail: 'bubblewrap 0.8.0' })
})

test('on a platform other than Linux the status says so', async () => {
  const { adapter, world } = await setup({ world: { host: { platform: 'darwin' } } })
  expect(await adapter.check()).toMatchObject({ available: false, why: 'bubblewrap does not run on darwin' })
  expect(world.processes.started).toEqual([])
})

test('hosts need socat, and nothing is started without it', async () => {
  const { spawn, world } = await setup()
  await expect(spawn({ hosts: ['example.org'] })).rejects.toMatchObject({ code: 'BUBBLEWRAP_NO_RELAY' })
  expect(world.processes.started).toEqual([])
})

test('a folder that is the user’s own is protected as it is, and stays, also an empty one', async () => {
  const { spawn, world } = await setup({
    files: { '/usr/bin/bwrap': bwrap, '/proj/.rules/one': '1', '/proj/.empty': null },
  })
  await (await spawn({ protected: ['/proj/.rules', '/proj/.empty'] })).exited
  expect(await world.disk.readdir('/proj/.empty')).toEqual([])
  expect(world.processes.started[0]?.options.args.join(' ')).toContain('--ro-bind /proj/.rules /proj/.rules')
  expect(world.disk.text('/proj/.rules/one')).toBe('1')
})

test.each([
  ['first', [0, 1]],
  ['last', [1, 0]],
] as const)(
  'a placeholder goes with the last process that needs it, when the one that made it ends %s',
  async (_, order) => {
    const ends: (() => void)[] = []
    const { spawn, world } = await setup({ program: (_options, program) => void ends.push(() => program.exit(0)) })
    const started = [await spawn({ protected: ['/proj/.rules'] }), await spawn({ protected: ['/proj/.rules'] })]
    const there = () => world.disk.readdir('/proj').then((entries) => entries.some(({ name }) => name === '.rules'))
    for (const [done, which] of order.entries()) {
      ends[which]?.()
      await started[which]?.exited
      expect(await there()).toBe(done === 0)
    }
  },
)

test('a start that fails leaves no placeholder', async () => {
  const { spawn, world } = await setup({ program: 'missing' })
  await expect(spawn({ protected: ['/proj/.rules'] })).rejects.toMatchObject({ code: 'ENOENT' })
  expect((await world.disk.readdir('/proj')).map(({ name }) => name)).toEqual(['a'])
  world.disk.failNext('rename', 'ENOSPC', { path: '/proj/.more' })
  await expect(spawn({ protected: ['/proj/.rules', '/proj/.more'] })).rejects.toMatchObject({ code: 'ENOSPC' })
  expect((await world.disk.readdir('/proj')).map(({ name }) => name)).toEqual(['a'])
})

test('a placeholder that somebody else removes meanwhile is made again', async () => {
  const { world } = await setup()
  const other = await holdPlaces(world, [{ path: '/proj/.rules' }])
  let isFirst = true
  const mkdir: typeof world.disk.mkdir = async (path, options) => {
    if (isFirst) await other.release()
    isFirst = false
    return world.disk.mkdir(path, options)
  }
  const disk = Object.create(world.disk, { mkdir: { value: mkdir } }) as typeof world.disk
  const held = await holdPlaces({ ...world, disk }, [{ path: '/proj/.rules' }])
  expect(held.mounts).toEqual([{ path: '/proj/.rules', as: 'empty' }])
  expect(await world.disk.readdir('/proj/.rules')).toHaveLength(1)
  await held.release()
})

test('a placeholder is never seen without its holder, which would make it a folder of the person', async () => {
  const { world } = await setup()
  const mkdir: typeof world.disk.mkdir = async (path, options) => {
    await world.disk.mkdir(path, options)
    const seen = await world.disk.readdir('/proj/.rules').catch(() => undefined)
    expect(seen).not.toEqual([])
  }
  const disk = Object.create(world.disk, { mkdir: { value: mkdir } }) as typeof world.disk
  const held = await holdPlaces({ ...world, disk }, [{ path: '/proj/.rules' }])
  await held.release()
  expect((await world.disk.readdir('/proj')).map(({ name }) => name)).toEqual(['a'])
})

test('a start that looks while a placeholder goes makes one of its own', async () => {
  const { spawn, world } = await setup()
  const rmdir = world.disk.rmdir.bind(world.disk)
  let second: ReturnType<typeof spawn> | undefined
  world.disk.rmdir = async (path) => {
    await rmdir(path)
    second ??= spawn({ protected: ['/proj/.rules'] })
    await flushMicrotasks()
  }
  await (await spawn({ protected: ['/proj/.rules'] })).exited
  await (await second)?.exited
  const mounts = world.processes.started.map(({ options }) => options.args.join(' '))
  expect(mounts.map((text) => text.includes('--tmpfs /proj/.rules'))).toEqual([true, true])
  expect((await world.disk.readdir('/proj')).map(({ name }) => name)).toEqual(['a'])
})

test('a link that leads nowhere, and a workspace that is only read, need no placeholder', async () => {
  const { spawn, world } = await setup({ files: { '/usr/bin/bwrap': bwrap, '/proj/.link': { link: '/nowhere' } } })
  const before = world.disk.effectCount
  await (await spawn({ protected: ['/proj/.link'] })).exited
  await (await spawn({ protected: ['/proj/.rules'], access: 'read' })).exited
  // The two folders for temporary files.
  expect(world.disk.effectCount - before).toBe(2)
})

test('a placeholder that a killed host left behind is taken over, and goes', async () => {
  const stale = '/proj/.rules/.sluice-holds-99-boot_1-1/x'
  const { spawn, world } = await setup({ files: { '/usr/bin/bwrap': bwrap, [stale]: '' } })
  await world.disk.unlink(stale)
  await (await spawn({ protected: ['/proj/.rules'] })).exited
  expect(world.processes.started[0]?.options.args.join(' ')).toContain('--tmpfs /proj/.rules')
  expect((await world.disk.readdir('/proj')).map(({ name }) => name)).toEqual(['a'])
})

const common = '/proj/.git/commondir'
const standIn = { protected: [common], standIns: new Map([[common, '.\n']]) }

test('a file that stands for a missing one goes with the last process that needs it', async () => {
  const ends: (() => void)[] = []
  const { spawn, world } = await setup({
    files: { '/usr/bin/bwrap': bwrap, '/proj/.git/HEAD': 'h' },
    program: (_options, program) => void ends.push(() => program.exit(0)),
  })
  const started = [await spawn(standIn), await spawn(standIn)]
  for (const { options } of world.processes.started) {
    expect(options.args.join(' ')).toContain(`--ro-bind ${common} ${common}`)
    expect(options.args.join(' ')).toContain(`--tmpfs ${common}.sluice-held --remount-ro`)
  }
  ends[0]?.()
  await started[0]?.exited
  expect(world.disk.text(common)).toBe('.\n')
  ends[1]?.()
  await started[1]?.exited
  expect((await world.disk.readdir('/proj/.git')).map(({ name }) => name)).toEqual(['HEAD'])
})

test('such a file that a killed host left behind goes, and one of the user stays', async () => {
  const stale = `${common}.sluice-held/.sluice-holds-99-boot_1-1/x`
  const left = await setup({ files: { '/usr/bin/bwrap': bwrap, [common]: '.\n', [stale]: '' } })
  await left.world.disk.unlink(stale)
  await (await left.spawn(standIn)).exited
  expect(await left.world.disk.readdir('/proj/.git')).toEqual([])
  const own = await setup({ files: { '/usr/bin/bwrap': bwrap, [common]: '../..' } })
  await (await own.spawn(standIn)).exited
  expect(own.world.disk.text(common)).toBe('../..')
})

test('what somebody puts into a placeholder from outside stays', async () => {
  const { spawn, world } = await setup({
    async program() {
      const file = await world.disk.open('/proj/.rules/own', { write: true, create: true })
      await file.close()
      return {}
    },
  })
  await (await spawn({ protected: ['/proj/.rules'] })).exited
  expect((await world.disk.readdir('/proj/.rules')).map(({ name }) => name)).toEqual(['own'])
})

test('temporary files of all starts go when the sandbox is unloaded', async () => {
  const { spawn, dispose, world } = await setup({
    async program({ args }) {
      const folder = args[args.indexOf('--bind') + 1] as string
      await world.disk.mkdir(`${folder}/deep/er`, { recursive: true })
      await (await world.disk.open(`${folder}/deep/er/file`, { write: true, create: true })).close()
      return {}
    },
  })
  await (await spawn()).exited
  await (await spawn({ scratch: 'two' })).exited
  const [own = ''] = (await world.disk.readdir('/tmp')).map(({ name }) => name).filter((name) => name !== '.keep')
  expect((await world.disk.stat(`/tmp/${own}`)).mode).toBe(0o700)
  await dispose()
  expect((await world.disk.readdir('/tmp')).map(({ name }) => name)).toEqual(['.keep'])
})

test('a workspace that is the whole file system shows neither the processes nor the devices of the host', async () => {
  const { spawn, world } = await setup()
  await (await spawn({ workspace: ['/'] })).exited
  const line = world.processes.started[0]?.options.args.join(' ') ?? ''
  for (const own of ['--dev /dev', '--proc /proc'])
    expect(line.indexOf(own)).toBeGreaterThan(line.indexOf('--bind / /'))
  expect(line).toMatch(/--tmpfs \/tmp\/sluice-sandbox_\w+ --remount-ro/)
})

test('a folder in which nothing can be made needs no placeholder', async () => {
  const { spawn, world } = await setup({
    files: { '/usr/bin/bwrap': bwrap, '/proj/ro': { directory: true, mode: 0o555, uid: 0 } },
  })
  await (await spawn({ protected: ['/proj/ro/.rules'] })).exited
  expect(world.processes.started).toHaveLength(1)
  expect(await world.disk.readdir('/proj/ro')).toEqual([])
})

test('nothing starts when bubblewrap has been taken away, whatever else has its name', async () => {
  const { spawn, world } = await setup({ files: { '/proj/bin/bwrap': bwrap } })
  await expect(spawn()).rejects.toMatchObject({ code: 'BUBBLEWRAP_GONE' })
  expect(world.processes.started).toEqual([])
})
