import { everyCrash, keepAtRandom, seededRandom, type SimWorld, simWorld } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { mounted } from './setup.ts'

const TIMEOUT_MS = 120_000
const old = 'old line\nsecond\n'
const edited = 'new line\nsecond\n'
const written = 'written as a whole, and longer than before\n'

/** What the machine said was done. */
interface Told {
  edited: boolean
  written: boolean
  created: boolean
  undone: boolean
}

const nothing = (): Told => ({ edited: false, written: false, created: false, undone: false })

async function work(world: SimWorld, told: Told): Promise<void> {
  const ctx = await mounted(world)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  const call = (id: string) => ({ session, call: { id, tool: 'test' } })
  await ctx.fs.edit('f', [{ oldText: 'old', newText: 'new' }], call('c1'))
  told.edited = true
  await ctx.fs.write('f', written, call('c2'))
  told.written = true
  await ctx.fs.write('a/b/g', 'created\n', call('c3'))
  told.created = true
  await ctx.fs.undo('c3', call('c4'))
  told.undone = true
}

async function check(world: SimWorld, told: Told): Promise<void> {
  const found = world.disk.text('/proj/f')
  const possible = told.written ? [written] : told.edited ? [edited, written] : [old, edited]
  expect(possible).toContain(found)
  const created = world.disk.text('/proj/a/b/g')
  expect(told.undone ? [undefined] : told.created ? ['created\n', undefined] : [undefined, 'created\n']).toContain(
    created,
  )
  expect((await world.disk.stat('/proj/f')).mode).toBe(0o750)
  await startAgain(world)
  const left = Object.keys(world.disk.tree('/proj'))
  expect(left.filter((path) => path.includes('.sluice-'))).toEqual([])
  expect(world.disk.text('/proj/f')).toBe(found)
}

/** The next process touches the folders. */
async function startAgain(world: SimWorld): Promise<void> {
  const ctx = await mounted(world)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  for (const folder of ['.', 'a', 'a/b']) {
    const { exists } = await ctx.fs.resolve(folder, session)
    if (exists) await ctx.fs.list(folder, { session, call: { id: 'c', tool: 'test' } })
  }
}

function run() {
  let told = nothing()
  return {
    make: () => {
      told = nothing()
      return simWorld({ files: { '/proj/f': { content: old, mode: 0o750 } } })
    },
    act: (world: SimWorld) => work(world, told),
    check: (world: SimWorld) => check(world, told),
  }
}

test('killed at any effect of an edit, a write or an undo, a file holds old or new, and no temporary file outlives the next start', {
  timeout: TIMEOUT_MS,
}, async () => {
  expect(await everyCrash(run())).toBeGreaterThan(50)
})

test('whatever part of the unsynced effects survives, a file holds old or new', { timeout: TIMEOUT_MS }, async () => {
  const random = seededRandom(11)
  const states = () => Array.from({ length: 6 }, (_, i) => ({ label: `choice ${i}`, keep: keepAtRandom(random) }))
  await everyCrash({ ...run(), states })
})

test('the disk may fail at every effect in turn, and the file holds old or new', { timeout: TIMEOUT_MS }, async () => {
  for (let effect = 1; ; effect++) {
    const world = simWorld({ files: { '/proj/f': { content: old, mode: 0o750 } } })
    const { effectCount } = world.disk
    world.disk.failAt(effectCount + effect, 'EIO')
    const told = nothing()
    const failure = await work(world, told).then(
      () => undefined,
      (error: unknown) => error as { code: string },
    )
    expect([old, edited, written]).toContain(world.disk.text('/proj/f'))
    expect(world.disk.openFiles).toBe(0)
    const left = Object.keys(world.disk.tree('/proj')).filter((path) => path.includes('.sluice-'))
    if (failure) expect(failure.code).toMatch(/^FS_(DISK|NOT_DURABLE)$/)
    expect(left.length).toBeLessThanOrEqual(failure ? 1 : 0)
    if (world.disk.effectCount < effectCount + effect) return
  }
})
