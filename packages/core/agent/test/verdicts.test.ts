import type { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import type { PromptVerdict, StopVerdict } from '../src/index.ts'
import { expectSettled, lines, mount } from './harness.ts'

type Next<V> = () => V | PromiseLike<V>
type PromptListener = (prompt: object, next: Next<PromptVerdict>) => PromptVerdict | PromiseLike<PromptVerdict>

const text = (value: string) => [{ type: 'text', text: value }] as const
const block: PromptListener = () => ({ kind: 'block', reason: 'not today' })
const replace: PromptListener = () => ({ kind: 'replace', content: text('something else') })
const accept: PromptListener = () => ({ kind: 'accept', contexts: ['mind the gap'] })
const abstain: PromptListener = (_prompt, next) => next()

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]))
}

describe('agent/submit-prompt', () => {
  test('a block wins over replace and accept in every order, and nothing of the prompt enters the log', async () => {
    for (const listeners of permutations([block, replace, accept, abstain])) {
      const m = await mount([])
      for (const listener of listeners) m.ctx.on('agent/submit-prompt', listener)
      expect(await m.agent.send('secret plan')).toMatchObject({ reason: 'blocked', detail: 'not today' })
      expect(m.types()).toEqual(['session/started', 'turn/started', 'turn/ended'])
      expect(JSON.stringify(m.session.events)).not.toContain('secret plan')
    }
  })

  test('a replacement wins over accept in every order, and contexts of all follow the prompt', async () => {
    for (const listeners of permutations([replace, accept, abstain])) {
      const m = await mount(['ok'])
      for (const listener of listeners) m.ctx.on('agent/submit-prompt', listener)
      await m.agent.send('the original')
      expect(lines(m.session)).toEqual(['user: something else', 'user: mind the gap', 'assistant: ok'])
    }
  })

  test('a listener that passes on the answer of the others adds nothing twice', async () => {
    const m = await mount(['ok'])
    m.ctx.on('agent/submit-prompt', abstain)
    m.ctx.on('agent/submit-prompt', accept)
    m.ctx.on('agent/submit-prompt', async (_prompt, next) => ({ ...(await next()) }))
    await m.agent.send('hi')
    expect(lines(m.session)).toEqual(['user: hi', 'user: mind the gap', 'assistant: ok'])
  })

  test('a listener that throws, forgets its answer or answers nonsense blocks the prompt and is named', async () => {
    const broken: unknown[] = [
      () => {
        throw new Error('broken hook')
      },
      () => undefined,
      () => ({ kind: 'allow' }),
      () => ({ kind: 'block' }),
      () => ({ kind: 'replace' }),
    ]
    for (const listener of broken) {
      const m = await mount([])
      await m.ctx.plugin({
        name: 'bad-plugin',
        apply: (own: Context) => void own.on('agent/submit-prompt', listener as PromptListener),
      })
      const result = await m.agent.send('hi')
      expect(result.reason).toBe('blocked')
      expect(result.detail).toContain('bad-plugin')
    }
  })

  test('a listener that changes the block it is handed lifts it for nobody', async () => {
    const cheats: PromptListener[] = [
      async (_prompt, next) => Object.assign(await next(), { kind: 'accept' as const }),
      async (_prompt, next) => {
        const verdict = await next()
        Reflect.set(verdict, 'kind', 'accept')
        return verdict
      },
    ]
    for (const cheat of cheats) {
      const m = await mount([])
      m.ctx.on('agent/submit-prompt', cheat)
      m.ctx.on('agent/submit-prompt', block)
      expect((await m.agent.send('secret plan')).reason).toBe('blocked')
    }
  })

  test('a listener that gives no verdict in time blocks the prompt', async () => {
    const m = await mount([], { config: { verdictMsMax: 1000 } })
    const asked = new Promise<void>((resolve) => {
      m.ctx.on('agent/submit-prompt', () => (resolve(), new Promise<never>(() => {})))
    })
    const sent = m.agent.send('hi')
    await asked
    await m.world.clock.advance(1000)
    expect(await sent).toMatchObject({
      reason: 'blocked',
      detail: 'root failed: agent/submit-prompt: no answer within 1000 ms',
    })
    expect(m.world.clock.pending).toBe(0)
  })

  test('a plugin that unloads while listeners are asked is not called, and the prompt is blocked', async () => {
    const m = await mount([])
    let called = false
    m.ctx.on('agent/submit-prompt', async (_prompt, next) => (await fiber.dispose(), next()), { order: -1 })
    const fiber = await m.ctx.plugin({
      name: 'leaving',
      apply(own: Context) {
        own.on('agent/submit-prompt', (_prompt, next) => ((called = true), next()))
      },
    })
    expect((await m.agent.send('hi')).reason).toBe('blocked')
    expect(called).toBe(false)
  })

  test('a plugin that unloads before it has answered blocks the prompt, and no option of ctx.on gives it another name', async () => {
    const m = await mount([])
    const victim = await m.ctx.plugin({ name: 'victim', apply: () => {} })
    let answer = (_verdict: PromptVerdict) => {}
    let entered = () => {}
    const asked = new Promise<void>((resolve) => (entered = resolve))
    const leaving = await m.ctx.plugin({
      name: 'leaving',
      apply(own: Context) {
        const listener = () => (entered(), new Promise<PromptVerdict>((resolve) => (answer = resolve)))
        own.on('agent/submit-prompt', listener, { ctx: victim.ctx } as never)
      },
    })
    const sent = m.agent.send('hi')
    await asked
    await leaving.dispose()
    answer({ kind: 'accept' })
    expect(await sent).toMatchObject({
      reason: 'blocked',
      detail: expect.stringMatching(/^leaving failed: /) as string,
    })
  })

  test('steering is asked about too: what is blocked does not enter the log', async () => {
    const m = await mount([() => (m.agent.steer('drop tables'), { text: 'hm' }), 'done'])
    m.ctx.on('agent/submit-prompt', (prompt, next) =>
      JSON.stringify(prompt.content).includes('tables') ? { kind: 'block', reason: 'no' } : next(),
    )
    expect((await m.agent.send('hi')).reason).toBe('completed')
    expect(JSON.stringify(m.session.events)).not.toContain('tables')
    expectSettled(m.session)
  })
})

describe('agent/stop-turn', () => {
  const go: StopVerdict = { kind: 'continue', reason: 'the tests still fail' }

  test('a turn goes on when a plugin says why, and stops when it no longer does', async () => {
    const m = await mount(['first', 'second'])
    m.ctx.on('agent/stop-turn', (turn, next) => (turn.continued === 0 ? go : next()))
    expect(await m.agent.send('fix it')).toMatchObject({ reason: 'completed', text: 'second' })
    expect(lines(m.session)).toEqual([
      'user: fix it',
      'assistant: first',
      'user: the tests still fail',
      'assistant: second',
    ])
    expect(m.events('user/message')[1]?.data.source).toBe('stop-turn')
  })

  test('a plugin that never lets a turn stop is stopped by the bound', async () => {
    const m = await mount(['1', '2', '3', '4'], { config: { stopContinuesMax: 3 } })
    m.ctx.on('agent/stop-turn', () => go)
    expect(await m.agent.send('loop')).toMatchObject({ reason: 'completed', text: '4' })
    m.model.verify()
  })

  test('an outspoken stop wins over a continue in every order; a listener that throws counts as a stop', async () => {
    const stops = [
      () => ({ kind: 'stop' }) as const,
      () => {
        throw new Error('broken')
      },
    ]
    for (const stop of stops) {
      for (const listeners of permutations([() => go, stop, (_turn: object, next: Next<StopVerdict>) => next()])) {
        const m = await mount(['first'])
        for (const listener of listeners) m.ctx.on('agent/stop-turn', listener)
        expect(await m.agent.send('hi')).toMatchObject({ reason: 'completed', text: 'first' })
      }
    }
  })
})
