/** Proves asking: true owners, own time, the strictest answer, and nobody who is gone. */
import { deferred, flushMicrotasks, simClock } from '@sluice/testkit'
import { Context } from 'cordis'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  AbortSource,
  type Listener,
  Listeners,
  narrowTo,
  Round,
  tell,
  type TimeLimits,
  Watchdog,
} from '../src/index.ts'

type Next = () => number | Promise<number>
const event = 'test/how-much'
const on = (ctx: Context, listener: (next: Next) => unknown, options: object = {}) =>
  ctx.on(event as never, listener as never, options)

/** The greatest number wins; 9 is final. */
class Greatest extends Round<number> {
  protected call(listener: Listener, next: Next): unknown {
    return listener.call(next)
  }
  protected nothing(): number {
    return 0
  }
  protected take(answer: unknown): number {
    if (typeof answer !== 'number') throw new TypeError('no number')
    if (answer === 9) this.over = true
    return answer
  }
  protected join(own: number, later: number): number {
    return Math.max(own, later)
  }
  protected failed(): number {
    return 9
  }
}

function bench() {
  const ctx = new Context()
  const clock = simClock({ startAt: 0, autoAdvance: true })
  const limits: TimeLimits = { watchdog: new Watchdog(clock), msOf: () => 100 }
  const listeners = new Listeners(ctx)
  const source = new AbortSource()
  const round = (place?: string) => new Greatest(listeners.of(event, place), limits, source)
  const mount = (name: string, apply: (own: Context) => unknown) =>
    ctx.plugin({ name, apply: (own: Context) => void apply(own) })
  const wait = (ms: number) => new Promise<void>((resolve) => clock.timer(ms, resolve))
  return { ctx, clock, limits, listeners, source, round, mount, wait }
}

describe('a round', () => {
  it('asks every listener once and joins their answers, whatever they do with next()', async () => {
    const answer = fc.record({ says: fc.integer({ min: 0, max: 8 }), nexts: fc.integer({ min: 0, max: 3 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { maxLength: 6 }), async (answers) => {
        const { ctx, round } = bench()
        const asked: number[] = []
        for (const [place, { says, nexts }] of answers.entries())
          on(ctx, async (next) => {
            asked.push(place)
            for (let i = 0; i < nexts; i++) await next()
            return says
          })
        expect(await round().all()).toBe(Math.max(0, ...answers.map(({ says }) => says)))
        expect(asked).toEqual(answers.map((_, place) => place))
      }),
      { numRuns: 60 },
    )
  })

  it('is over with a final answer: nobody else is asked, and whoever was entered is awaited', async () => {
    const { ctx, round, wait } = bench()
    const log: string[] = []
    on(ctx, (next) => (void next(), 9))
    on(ctx, async () => (await wait(20), log.push('entered'), 5))
    on(ctx, () => (log.push('never'), 1))
    expect(await round().all()).toBe(9)
    expect(log).toEqual(['entered'])
  })

  // 12.2
  it('has its verdict at once when nobody makes it wait, next() too', async () => {
    const { ctx, mount, round, clock } = bench()
    const later: unknown[] = []
    on(ctx, (next) => (later.push(next(), next()), 1))
    on(ctx, (next) => next())
    on(ctx, (next) => (later.push(next(), next()), 5))
    expect([round().all(), later, clock.pending]).toEqual([5, [0, 0, 5, 5], 0])
    const broken = await mount('broken', (own) => on(own, () => 'nonsense'))
    const one = round()
    expect([one.all(), one.failure?.by]).toEqual([9, `broken#${broken.uid}`])
  })

  // 4.1
  it('gives every call of next() the same answer, before it is known and after', async () => {
    const { ctx, round, wait } = bench()
    const answers: unknown[] = []
    on(ctx, async (next) => {
      const first = next()
      answers.push(first === next(), await first, await next())
      return next()
    })
    on(ctx, async () => (await wait(5), 7))
    expect(await round().all()).toBe(7)
    expect(answers).toEqual([true, 7, 7])
  })

  // 7.7
  it('that has a grace goes on after an abort, and is left when the grace ends, naming whose code runs', async () => {
    const { mount, limits, listeners, source, clock, wait } = bench()
    await mount('calm', (own) => on(own, async (next) => (await wait(30), next()), { order: 1 }))
    const one = new Greatest(listeners.of(event, undefined), limits, source, 50)
    source.fire('stop')
    expect(await one.all()).toBe(0)
    expect(one.failure).toBeUndefined()
    const late = deferred()
    let asked = 0
    const hangs = await mount('hangs', (own) => {
      on(own, () => late.promise.then(() => 1), { order: 2 })
      on(own, () => asked++, { order: 3 })
    })
    const two = new Greatest(listeners.of(event, undefined), limits, source, 50)
    await two.all()
    expect(two.failure).toMatchObject({ how: 'expired', by: `hangs#${hangs.uid}`, code: 'LISTENER_ABANDONED' })
    expect(clock.monotonic()).toBe(80)
    late.resolve()
    await flushMicrotasks()
    expect(asked).toBe(0)
  })

  // 7.7
  it('that has ended starts no grace when an abort comes after it', async () => {
    const { ctx, limits, listeners, source, clock, wait } = bench()
    on(ctx, async () => (await wait(5), 1))
    await new Greatest(listeners.of(event, undefined), limits, source, 50).all()
    source.fire('stop')
    expect(clock.pending).toBe(0)
  })

  it('names the first failure: what is thrown, and nonsense', async () => {
    for (const listener of [() => Promise.reject(new Error('no \ud800 number')), () => 'nonsense', () => undefined]) {
      const { mount, round } = bench()
      const fiber = await mount('broken', (own) => on(own, listener))
      const one = round()
      expect(await one.all()).toBe(9)
      expect(one.failure).toMatchObject({ how: 'threw', by: `broken#${fiber.uid}`, code: 'LISTENER_FAILED' })
      expect(one.asked).toEqual([
        {
          plugin: `broken#${fiber.uid}`,
          said: 'threw',
          reason: expect.stringMatching(/^no (\ufffd )?number$/) as string,
          ms: 0,
        },
      ])
    }
  })

  it('knows whose code runs: after next() that of the outer listener again', async () => {
    const { mount, round } = bench()
    const current: string[] = []
    const outer = await mount('outer', (own) =>
      on(own, async (next) => (await next(), current.push(one.current), 1), { order: 1 }),
    )
    const inner = await mount('inner', (own) => on(own, () => (current.push(one.current), 1), { order: 2 }))
    const one = round()
    await one.all()
    expect(current).toEqual([`inner#${inner.uid}`, `outer#${outer.uid}`])
  })

  it('takes the code of an expected failure, and of nothing else', async () => {
    const coded = (code: unknown) => Object.assign(new Error('no'), { name: 'SluiceError', code })
    const thrown = [
      coded('MY_CODE'),
      coded('half \ud800'),
      coded(7),
      coded({ toWellFormed: () => 'FORGED' }),
      Object.assign(new Error('no'), { code: 'ENOENT' }),
    ]
    const codes = thrown.map(async (error) => {
      const { ctx, round } = bench()
      on(ctx, () => Promise.reject(error))
      const one = round()
      await one.all()
      return one.failure?.code
    })
    expect(await Promise.all(codes)).toEqual(['MY_CODE', 'half \ufffd', ...Array(3).fill('LISTENER_FAILED')])
  })

  it('gives each listener its own time, which stands still inside next()', async () => {
    const { mount, round, wait, clock } = bench()
    await mount('patient', (own) => on(own, async (next) => (await next(), await wait(60), 1), { order: 1 }))
    await mount('slow', (own) => on(own, async () => (await wait(90), 2), { order: 2 }))
    expect(await round().all()).toBe(2)
    const hangs = await mount('hangs', (own) => on(own, () => new Promise(() => {}), { order: 3 }))
    const one = round()
    expect(await one.all()).toBe(9)
    expect(one.failure).toMatchObject({
      how: 'expired',
      by: `hangs#${hangs.uid}`,
      code: 'LISTENER_EXPIRED',
      message: `${event}: no answer within 100 ms`,
    })
    expect(clock.pending).toBe(0)
  })

  it('gives a listener its time back when its next() has come: it is cut off if it hangs then', async () => {
    const { mount, round, wait } = bench()
    const hangs = await mount('hangs', (own) => on(own, async (next) => (await next(), await new Promise(() => {}))))
    await mount('slow', (own) => on(own, async () => (await wait(90), 2), { order: 1 }))
    const one = round()
    expect(await one.all()).toBe(9)
    expect(one.failure).toMatchObject({ how: 'expired', by: `hangs#${hangs.uid}` })
  })

  it('is diverted by an abort at once, and asks nobody any more', async () => {
    const { mount, round, source, clock } = bench()
    let late = 0
    await mount('hangs', (own) => on(own, () => (source.fire('stop'), new Promise(() => {}))))
    await mount('later', (own) => on(own, () => late++))
    const one = round()
    expect(await one.all()).toBe(9)
    expect(one.failure?.how).toBe('aborted')
    expect([late, clock.monotonic(), clock.pending]).toEqual([0, 0, 0])
  })

  it('fails for a listener whose plugin unloads or reloads before it has answered, and calls no disposed code', async () => {
    for (const leave of ['dispose', 'restart'] as const) {
      const { mount, round } = bench()
      let go = () => {}
      let called = 0
      const fiber = await mount('leaving', (own) => {
        on(own, async () => (called++, await new Promise<void>((resolve) => (go = resolve)), 1))
        on(own, () => (called++, 1))
      })
      const one = round()
      const label = `leaving#${fiber.uid}`
      const verdict = one.all()
      await fiber[leave]()
      go()
      expect(await verdict).toBe(9)
      expect(one.failure).toMatchObject({ how: 'threw', by: label, code: 'LISTENER_GONE' })
      expect(called).toBe(1)
      if (leave === 'dispose') continue
      const again = round()
      const answered = again.all()
      go()
      expect(await answered).toBe(1)
      expect(again.failure).toBeUndefined()
    }
  })

  it('takes the answer of a listener that is registered for one time, at once or later', async () => {
    const { ctx, round, wait } = bench()
    ctx.once(event as never, (async () => (await wait(5), 4)) as never)
    ctx.once(event as never, (() => 3) as never)
    expect(await round().all()).toBe(4)
    expect(await round().all()).toBe(0)
  })
})

describe('the owner of a listener', () => {
  it('is who registered it, whatever the options of ctx.on say', async () => {
    const { ctx, mount, listeners } = bench()
    const victim = await mount('victim', () => {})
    const forger = await mount('forger', (own) => {
      on(own, () => 1, { ctx: victim.ctx, name: 'victim' })
      on(own, () => 1, { ctx: victim.ctx, callback: () => 2 })
      on(own, () => 1, { ctx: narrowTo(victim.ctx, 'elsewhere') })
    })
    expect(listeners.of(event, undefined).map(({ plugin, mountedAs }) => [plugin, mountedAs])).toEqual([
      [`forger#${forger.uid}`, 'forger'],
      [`forger#${forger.uid}`, 'forger'],
      [`unverified victim#${victim.uid}`, undefined],
    ])
    expect(ctx.fiber.uid).toBe(0)
  })

  it('decides ties of order, and the order survives a reload', async () => {
    const { mount, listeners } = bench()
    const b = await mount('b', (own) => on(own, () => 1))
    await mount('c', (own) => on(own, () => 1, { order: -1 }))
    await mount('a', (own) => on(own, () => 1))
    const names = () => listeners.of(event, undefined).map(({ name }) => name)
    expect(names()).toEqual(['c', 'a', 'b'])
    await b.restart()
    expect(names()).toEqual(['c', 'a', 'b'])
  })

  it('may have narrowed it: it counts there and below only', async () => {
    const { mount, round } = bench()
    await mount('narrow', (own) => on(narrowTo(own, 'main/reviewer'), () => 1))
    const said = async (place?: string) => round(place).all()
    expect([await said(), await said('main'), await said('main/reviewer'), await said('main/reviewer/x')]).toEqual([
      0, 0, 1, 1,
    ])
    expect(await said('main/reviewers')).toBe(0)
  })
})

it('a fact is told to each listener: what one throws or rejects with is reported and starves nobody', async () => {
  const { ctx, mount, listeners, limits } = bench()
  const heard: string[] = []
  const thrower = await mount('thrower', (own) => on(own, () => Promise.reject(new Error('later'))))
  on(ctx, () => {
    throw new Error('at once')
  })
  on(ctx, (fact) => void heard.push(String(fact)))
  const reports: string[] = []
  tell(listeners.of(event, undefined), limits, ['a fact'], (report) => void reports.push(report))
  await flushMicrotasks()
  expect(heard).toEqual(['a fact'])
  expect(reports).toEqual([`root#0 failed in ${event}: at once`, `thrower#${thrower.uid} failed in ${event}: later`])
})
