import type { Child, World } from '@sluice/base'
import { nodeWorld } from '@sluice/world-node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { confinedChild } from '../src/child.ts'
import { insideOf } from '../src/tree.ts'

/** Three real processes in the places of bubblewrap, of the first process inside, and of a program. */
let outer: Child
let world: World & { dispose(): void }
let program = 0
beforeEach(async () => {
  world = nodeWorld()
  let told!: () => void
  const up = new Promise<void>((resolve) => {
    told = resolve
  })
  outer = await world.processes.spawn({
    file: 'bash',
    args: ['-c', 'bash -c "sleep 1000 & echo up; wait; :"; :'],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    onStdout: told,
  })
  await up
  program = insideOf(outer.pid).rest[0] ?? 0
  expect(world.processes.isAlive(program)).toBe(true)
})
afterEach(() => world.dispose())

test.runIf(process.platform === 'linux')('a sandbox lives until its first process is gone', () => {
  let bubblewrap = true
  const watched: Child = { ...outer, groupAlive: () => bubblewrap, killGroup: () => void (bubblewrap = false) }
  const child = confinedChild(watched, world)
  child.killGroup('SIGKILL')
  expect([bubblewrap, child.groupAlive()]).toEqual([false, true])
})

test.runIf(process.platform === 'linux')(
  'a sandbox that is gone signals nothing, whoever has its number now',
  async () => {
    const child = confinedChild({ ...outer, groupAlive: () => false }, world)
    child.killGroup('SIGTERM')
    // A whole process comes and goes meanwhile.
    const later = await world.processes.spawn({ file: 'true', args: [], cwd: '/', env: { PATH: '/usr/bin:/bin' } })
    await later.exited
    expect(world.processes.isAlive(program)).toBe(true)
  },
)

test('a program has ended when nothing of its sandbox is left, so that nothing is taken for left behind', async () => {
  let looks = 3
  const exited = Promise.resolve({ code: 0, signal: null })
  const child = confinedChild({ ...outer, exited, groupAlive: () => --looks > 0 }, world)
  expect(await child.exited).toEqual({ code: 0, signal: null })
  expect(child.groupAlive()).toBe(false)
})
