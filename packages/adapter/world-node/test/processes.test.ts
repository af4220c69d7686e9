import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Child } from '@sluice/base'
import { turn } from '@sluice/testkit'
import { Context } from 'cordis'
import { afterEach, describe, expect, it, vi } from 'vitest'
import * as worldNode from '../src/index.ts'

const world = worldNode.nodeWorld()
const { processes } = world
afterEach(() => world.dispose())

const env = { PATH: process.env['PATH'] ?? '' }
const sh = (script: string, more: { stdin?: string; cwd?: string } = {}) => {
  let out = ''
  let firstLine!: (text: string) => void
  const line = new Promise<string>((resolve) => (firstLine = resolve))
  const onStdout = (bytes: Uint8Array) => {
    out += new TextDecoder().decode(bytes)
    if (out.includes('\n')) firstLine(out)
  }
  const stdin = more.stdin === undefined ? {} : { stdin: new TextEncoder().encode(more.stdin) }
  const options = {
    file: 'sh',
    args: ['-c', script],
    cwd: more.cwd ?? '/',
    env,
    onStdout,
    onStderr: () => {},
    ...stdin,
  }
  return { child: processes.spawn(options), line, out: () => out }
}

async function groupGone(child: Child): Promise<void> {
  while (child.groupAlive()) await turn()
}

describe('a child', () => {
  it('gets exactly the given environment, folder and input, and tells its output and exit', async () => {
    const run = sh('pwd; cat; env | grep -c . ; exit 3', { stdin: 'text\n', cwd: '/usr' })
    const child = await run.child
    expect(await child.exited).toEqual({ code: 3, signal: null })
    await child.closed
    expect(run.out()).toMatch(/^\/usr\ntext\n[1-4]\n$/)
  })

  it('tells what it writes to descriptor 3, which it has only when somebody listens', async () => {
    let told = ''
    const onReport = (bytes: Uint8Array) => void (told += new TextDecoder().decode(bytes))
    const options = { file: 'sh', args: ['-c', 'echo told >&3'], cwd: '/', env }
    const child = await processes.spawn({ ...options, onReport })
    await child.closed
    expect([await child.exited, told]).toEqual([{ code: 0, signal: null }, 'told\n'])
    expect(await (await processes.spawn(options)).exited).toEqual({ code: 2, signal: null })
  })

  it('is told of when it has become a crowd, and not before', async () => {
    const told: string[] = []
    await new Promise<void>((resolve) => {
      const start = (name: string, processesMax: number, all: () => void) => {
        const onCrowd = () => {
          told.push(name)
          all()
        }
        const args = ['-c', 'sleep 100 & sleep 100 & sleep 100 & wait']
        return processes.spawn({ file: 'sh', args, cwd: '/', env, crowd: { processesMax, onCrowd } })
      }
      // The one that is no crowd is looked at first.
      void start('four of four', 4, () => {}).then(() => start('four of three', 3, resolve))
    })
    expect(told).toEqual(['four of three'])
  })

  it('that does not read its input is no error', async () => {
    const child = await sh('exec 0<&-; exit 0', { stdin: 'x'.repeat(1 << 20) }).child
    expect(await child.exited).toEqual({ code: 0, signal: null })
    await child.closed
  })

  it('has exited when the program itself has, whoever still holds its pipes', async () => {
    const child = await sh('sleep 100 & echo started').child
    expect(await child.exited).toEqual({ code: 0, signal: null })
    expect(child.groupAlive()).toBe(true)
    let closed = false
    void child.closed.then(() => (closed = true))
    expect(closed).toBe(false)
    child.killGroup('SIGKILL')
    await child.closed
    await groupGone(child)
  })

  it('closes when its output is detached, and a background process may go on printing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'detached-'))
    const script =
      '(while [ ! -e go ]; do sleep 0.01; done; echo a && echo b && touch printed && sleep 100) & echo started'
    const child = await sh(script, { cwd: folder }).child
    await child.exited
    child.detachOutput()
    await child.closed
    writeFileSync(join(folder, 'go'), '')
    while (child.groupAlive() && !existsSync(join(folder, 'printed'))) await turn()
    expect(child.groupAlive()).toBe(true)
    child.killGroup('SIGKILL')
    await groupGone(child)
    rmSync(folder, { recursive: true })
  })

  it('is killed with every process of its group', async () => {
    const run = sh('sleep 100 & sh -c "sleep 100" & echo ready; wait')
    const child = await run.child
    await run.line
    child.killGroup('SIGKILL')
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' })
    await groupGone(child)
    expect(() => child.killGroup('SIGTERM')).not.toThrow()
  })

  // files.md 12
  it.runIf(process.platform === 'linux')('is killed with what has left its group, where it has an owner', async () => {
    let stray = 0
    let told!: () => void
    const line = new Promise<void>((resolve) => (told = resolve))
    const onStdout = (bytes: Uint8Array) => {
      stray = Number(new TextDecoder().decode(bytes))
      told()
    }
    const args = ['-c', 'setsid sh -c "echo \\$\\$; exec sleep 100" & exit 0']
    const child = await processes.spawn({ file: 'sh', args, cwd: '/', env, owner: 'somebody/else', onStdout })
    const other = await processes.spawn({ file: 'sleep', args: ['100'], cwd: '/', env, owner: 'somebody/else' })
    await Promise.all([line, child.exited])
    expect([child.groupAlive(), processes.isAlive(stray)]).toEqual([true, true])
    child.killGroup('SIGKILL')
    await groupGone(child)
    expect([processes.isAlive(stray), other.groupAlive()]).toEqual([false, true])
  })

  it('that has become another user’s is not ended, and that is no error', async () => {
    const child = await sh('exec sleep 100').child
    const refused = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
    })
    try {
      expect(() => child.killGroup('SIGKILL')).not.toThrow()
      expect(child.groupAlive()).toBe(true)
    } finally {
      refused.mockRestore()
    }
    child.killGroup('SIGKILL')
    await groupGone(child)
  })

  it('is never signalled again once its group is gone, for its pid may be a stranger by then', async () => {
    const child = await sh('exit 0').child
    await child.exited
    expect(() => processes.killGroup(child.pid, 'SIGTERM')).not.toThrow()
    const signals = vi.spyOn(process, 'kill').mockReturnValue(true)
    try {
      expect(child.groupAlive()).toBe(false)
      child.killGroup('SIGKILL')
      expect(signals).not.toHaveBeenCalled()
    } finally {
      signals.mockRestore()
    }
  })

  it.runIf(process.platform === 'linux')('has ended when it is a zombie, and so has a group of zombies', async () => {
    // The one that should bury the zombie turns into a program that does not, in a session of its own.
    // Only then may the zombie end: until then its parent would bury it.
    const folder = mkdtempSync(join(tmpdir(), 'zombie-'))
    const dying = '(while [ ! -e turned ]; do sleep 0.01; done) & echo $!'
    const run = sh(`(${dying}; exec setsid sh -c 'echo $$; : > turned; exec sleep 100') & wait`, { cwd: folder })
    const child = await run.child
    while (run.out().split('\n').length < 3) await turn()
    const [zombie = 0, parent = 0] = run.out().split('\n').map(Number)
    while (processes.isAlive(zombie)) await turn()
    expect(readFileSync(`/proc/${zombie}/stat`, 'latin1')).toMatch(/\) Z /)
    expect(processes.startTimeOf(zombie)).toBeUndefined()
    child.killGroup('SIGKILL')
    await child.exited
    expect(child.groupAlive()).toBe(false)
    processes.killGroup(parent, 'SIGKILL')
    rmSync(folder, { recursive: true })
  })

  it.runIf(process.platform === 'linux')('is named for ever by pid and start time', async () => {
    const child = await sh('sleep 100').child
    expect(child.startedAt).toBe(processes.startTimeOf(child.pid))
    expect(processes.isAlive(child.pid)).toBe(true)
    expect(processes.isAlive(child.pid, child.startedAt)).toBe(true)
    expect(processes.isAlive(child.pid, 'another start')).toBe(false)
    child.killGroup('SIGKILL')
    await child.exited
    expect(processes.isAlive(child.pid)).toBe(false)
    expect(processes.startTimeOf(child.pid)).toBeUndefined()
  })

  it('that cannot be started is refused with what is missing', async () => {
    const spawn = (file: string, cwd: string) => processes.spawn({ file, args: [], cwd, env })
    await expect(spawn('no-such-program', '/')).rejects.toMatchObject({ code: 'ENOENT', path: 'no-such-program' })
    await expect(spawn('/etc/passwd', '/')).rejects.toMatchObject({ code: 'EACCES', path: '/etc/passwd' })
    await expect(spawn('ls', '/no/such/folder')).rejects.toMatchObject({ code: 'ENOENT', path: '/no/such/folder' })
    await expect(spawn('ls', '/etc/passwd')).rejects.toMatchObject({ code: 'ENOTDIR', path: '/etc/passwd' })
    await expect(spawn('a\0b', '/')).rejects.toMatchObject({ code: 'EINVAL' })
  })
})

describe('the plugin', () => {
  it('leaves no child and no listener behind when it is unloaded', async () => {
    const counts = () => ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'].map((each) => process.listenerCount(each))
    const before = counts()
    const ctx = new Context()
    const fiber = await ctx.plugin(worldNode)
    const child = await ctx.world.processes.spawn({ file: 'sleep', args: ['100'], cwd: '/', env })
    expect(counts()).not.toEqual(before)
    await fiber.dispose()
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' })
    expect(counts()).toEqual(before)
    expect(ctx.get('world')).toBeUndefined()
  })
})

describe.runIf(process.platform === 'linux')('what a dead host has left of an owner', () => {
  const marked = async (mark: string, script: string) => {
    const options = { file: 'sh', args: ['-c', script], cwd: '/', env: { ...env, SLUICE_OWNER: mark } }
    return processes.spawn(options)
  }
  const deadHost = `${process.pid}/another-boot/1/1`

  // session-log.md 4.4
  it('is found and ended, with what it has started in groups of their own', async () => {
    const left = await marked(`${deadHost}/s1`, 'setsid sleep 100 & exec sleep 100')
    while ((await processes.endOrphans('s1')) === 0) await turn()
    await groupGone(left)
    expect(await processes.endOrphans('s1')).toBe(0)
  })

  it('is not mistaken for what works for others, or for a host that lives', async () => {
    const other = await marked(`${deadHost}/s2`, 'exec sleep 100')
    const options = { file: 'sh', args: ['-c', 'exec sleep 100'], cwd: '/', env, owner: 's1' }
    const own = await processes.spawn(options)
    expect(await processes.endOrphans('s1')).toBe(0)
    expect([other.groupAlive(), own.groupAlive()]).toEqual([true, true])
  })
})
