import type { Child, World } from '@sluice/base'
import { nodeWorld } from '@sluice/world-node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { confinedChild } from '../src/child.ts'
import { Report } from '../src/keeper.ts'
import { insideOf } from '../src/tree.ts'

/** Real processes in the places of bubblewrap, of the first process inside, of the keeper and of a program. */
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
    args: ['-c', 'bash -c "sleep 1000 & sleep 1000 & echo up; wait; :"; :'],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    onStdout: told,
  })
  await up
  program = insideOf(outer.pid, 9)[0] ?? 0
  expect(world.processes.isAlive(program)).toBe(true)
})
afterEach(() => world.dispose())

const child = (of: Child, report = new Report()) =>
  confinedChild({ outer: of, report, clock: world.clock, release: async () => {} })

test.runIf(process.platform === 'linux')(
  'a sandbox that is gone signals nothing, whoever has its number now',
  async () => {
    child({ ...outer, groupAlive: () => false }).killGroup('SIGTERM')
    // A whole process comes and goes meanwhile.
    const later = await world.processes.spawn({ file: 'true', args: [], cwd: '/', env: { PATH: '/usr/bin:/bin' } })
    await later.exited
    expect(world.processes.isAlive(program)).toBe(true)
  },
)

test('a program has ended when nothing of its sandbox is left, so that nothing is taken for left behind', async () => {
  let looks = 3
  const exited = Promise.resolve({ code: 0, signal: null })
  const own = child({ ...outer, exited, closed: Promise.resolve(), groupAlive: () => --looks > 0 })
  expect(await own.exited).toEqual({ code: 0, signal: null })
  expect(own.groupAlive()).toBe(false)
})

// BUG-061
test.runIf(process.platform === 'linux')(
  'a kill looks at nothing before it kills, so that a crowd does not grow meanwhile',
  () => {
    const signals: string[] = []
    child({ ...outer, killGroup: (signal) => void signals.push(signal) }).killGroup('SIGKILL')
    expect(signals).toEqual(['SIGKILL'])
  },
)

test.each([
  ['Segmentation fault\nended 139 1\n', { code: null, signal: 'SIGSEGV' }],
  ['ended 139 1\n', { code: 139, signal: null }],
  ['ended 0 3\n', { code: 0, signal: null }],
  ['sh: 1: x: not found\nended 127 1\n', { code: 127, signal: null }],
  ['Killed\n', undefined],
])('a signal is one when the shell inside has words for it: %j', (text, exit) => {
  const report = new Report()
  for (const byte of Buffer.from(text)) report.push(Uint8Array.of(byte))
  expect(report.exit()).toEqual(exit)
})

test('an exit code that no program has is none, for what is inside can write to the report of its keeper', () => {
  const report = new Report()
  report.push(Buffer.from('ended 99999999999999999999999 5\n'))
  expect(report.exit()).toBeUndefined()
})

test.runIf(process.platform === 'linux')('what a thread has started is seen like any other process', async () => {
  let started!: () => void
  const up = new Promise<void>((resolve) => {
    started = resolve
  })
  const work = `require('node:child_process').spawnSync('sh', ['-c', 'echo up; exec sleep 1000'], { stdio: 'inherit' })`
  const code = `new (require('node:worker_threads').Worker)(${JSON.stringify(work)}, { eval: true })`
  const threaded = await world.processes.spawn({
    file: 'bash',
    args: ['-c', `bash -c 'sleep 1000 & "$RUN" -e "$CODE" & wait; :'; :`],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', RUN: process.execPath, CODE: code },
    onStdout: started,
  })
  await up
  expect(insideOf(threaded.pid, 9)).toHaveLength(2)
})

test('a report is bounded, whatever is written to it', () => {
  const report = new Report()
  for (let i = 0; i < 5_000; i++) report.push(Buffer.from('x'))
  report.push(Buffer.from('\nended 1 1\n'))
  expect(report.exit()).toBeUndefined()
})
