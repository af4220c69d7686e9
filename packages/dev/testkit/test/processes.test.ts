import type { SpawnOptions } from '@sluice/base'
import { describe, expect, it } from 'vitest'
import { simWorld, type SimWorld, turn } from '../src/index.ts'

function spawn(world: SimWorld, file: string, args: string[] = [], more: Partial<SpawnOptions> = {}) {
  return world.processes.spawn({ file, args, cwd: '/proj', env: {}, ...more })
}

describe('simulated processes', () => {
  it('print and exit as the test says', async () => {
    const world = simWorld({ autoAdvance: true })
    world.processes.on('git', ({ args }) => ({ stdout: args.join(' '), stderr: 'warned', code: 2, afterMs: 500 }))
    const seen: string[] = []
    const onStdout = (bytes: Uint8Array) => void seen.push(new TextDecoder().decode(bytes))
    const onStderr = (bytes: Uint8Array) => void seen.push(`! ${new TextDecoder().decode(bytes)}`)
    const child = await spawn(world, '/usr/bin/git', ['status', '-s'], { onStdout, onStderr })
    expect(seen).toEqual([])
    expect(await child.exited).toEqual({ code: 2, signal: null })
    await child.closed
    expect(seen).toEqual(['status -s', '! warned'])
    expect(world.clock.monotonic()).toBe(500)
    expect(world.processes.alive).toEqual([])
  })

  it('are found by name, by pattern or by a function, the latest description first', async () => {
    const world = simWorld()
    world.processes.on(/^sh -c/, () => ({ code: 1 }))
    world.processes.on(
      ({ cwd }) => cwd === '/other',
      () => ({ code: 2 }),
    )
    const undo = world.processes.on('sh', () => ({ code: 3 }))
    const exit = async (args: string[], cwd = '/proj') => (await (await spawn(world, 'sh', args, { cwd })).exited).code
    expect(await exit(['-c', 'x'])).toBe(3)
    undo()
    expect(await exit(['-c', 'x'])).toBe(1)
    expect(await exit(['-x'], '/other')).toBe(2)
    await expect(spawn(world, 'sh')).rejects.toMatchObject({ code: 'ENOENT', path: 'sh' })
  })

  it('die of a signal to their group unless they handle it; SIGKILL cannot be handled', async () => {
    const world = simWorld()
    world.processes.on('server', (_, program) => program.onSignal(() => {}))
    world.processes.on('client', () => {})
    const [server, client] = [await spawn(world, 'server'), await spawn(world, 'client')]
    server.killGroup('SIGTERM')
    client.killGroup('SIGTERM')
    expect(await client.exited).toEqual({ code: null, signal: 'SIGTERM' })
    expect([server.groupAlive(), client.groupAlive()]).toEqual([true, false])
    world.processes.killGroup(server.pid, 'SIGKILL')
    expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' })
    expect(world.processes.started[0]?.signals).toEqual(['SIGTERM', 'SIGKILL'])
    expect(() => server.killGroup('SIGTERM')).not.toThrow()
  })

  it('may leave a descendant that holds the pipes', async () => {
    const world = simWorld()
    world.processes.on('sh', (_, program) => program.exit(0, { pipesHeld: true }))
    const child = await spawn(world, 'sh')
    await child.exited
    let closed = false
    void child.closed.then(() => (closed = true))
    await turn()
    expect([closed, child.groupAlive()]).toEqual([false, true])
    child.killGroup('SIGKILL')
    await child.closed
    expect(child.groupAlive()).toBe(false)
  })

  it('print to nobody once their output is detached', async () => {
    const world = simWorld()
    world.processes.on('sh', (_, program) => program.exit(0, { pipesHeld: true }))
    const seen: Uint8Array[] = []
    const child = await spawn(world, 'sh', [], { onStdout: (bytes) => void seen.push(bytes) })
    await child.exited
    child.detachOutput()
    await child.closed
    world.processes.started[0]?.stdout('late')
    expect(seen).toEqual([])
    world.processes.started[0]?.endPipes()
    expect(world.processes.alive).toEqual([])
  })

  it('are named by pid and start time, those that ran before too', async () => {
    const world = simWorld()
    world.processes.plant({ pid: 77, startedAt: 'then' })
    world.processes.on('server', () => {})
    const { pid, startedAt } = await spawn(world, 'server')
    expect(world.processes.startTimeOf(pid)).toBe(startedAt)
    expect(world.processes.isAlive(77, 'then')).toBe(true)
    expect(world.processes.isAlive(77, 'now')).toBe(false)
    expect(world.processes.isAlive(78)).toBe(false)
    world.processes.killGroup(77, 'SIGTERM')
    expect(world.processes.isAlive(77)).toBe(false)
  })

  it('that a dead host left for an owner is ended by that name, and no other', async () => {
    const world = simWorld()
    world.processes.on('own', (_, program) => void program)
    const options = { file: 'own', args: [], cwd: '/', env: {}, owner: 'somebody' }
    const { pid } = await world.processes.spawn(options)
    world.processes.plant({ pid: 77, owner: 'somebody' })
    world.processes.plant({ pid: 78, owner: 'another' })
    expect(await world.processes.endOrphans('somebody')).toBe(1)
    expect(world.processes.alive).toEqual([pid, 78])
  })

  it('that fail in their description are killed and say why', async () => {
    const world = simWorld()
    world.processes.on('sh', () => {
      throw new Error('not described')
    })
    const seen: string[] = []
    const child = await spawn(world, 'sh', [], { onStderr: (bytes) => void seen.push(new TextDecoder().decode(bytes)) })
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' })
    expect(seen).toEqual(['Error: not described'])
  })
})

describe('the simulated network', () => {
  it('answers what the test says, and records what was asked', async () => {
    const { network } = simWorld()
    network.on('https://example.test/', async (request) => new Response(`got ${await request.text()}`, { status: 201 }))
    const response = await network.fetch('https://example.test/a', { method: 'POST', body: 'x' })
    expect([response.status, await response.text()]).toEqual([201, 'got x'])
    expect(network.requests.map((each) => `${each.method} ${each.url}`)).toEqual(['POST https://example.test/a'])
  })

  it('ends a request that is aborted while it waits, and one whose handler fails', async () => {
    const { network } = simWorld()
    network.on('https://slow.test/', () => new Promise(() => {}))
    network.on('https://broken.test/', () => {
      throw new TypeError('reset')
    })
    const controller = new AbortController()
    const waiting = network.fetch('https://slow.test/', { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(network.fetch('https://broken.test/')).rejects.toThrow('reset')
    await expect(network.fetch('https://slow.test/', { signal: AbortSignal.abort() })).rejects.toThrow()
  })
})
