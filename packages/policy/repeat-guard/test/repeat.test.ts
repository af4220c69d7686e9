import * as policy from '@sluice/repeat-guard'
import { recentCalls, REMEMBERED_MAX, repetitions } from '@sluice/repeat-guard'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type PolicyBench, policyBench } from '@sluice/testkit/host'

const mount = policyBench.bind(undefined, policy)

async function calls(bench: PolicyBench, ...args: object[]): Promise<string[]> {
  const tags = []
  for (const one of args) tags.push((await bench.call(one)).result.outcome.tag)
  return tags
}

const a = { path: 'a' }
const b = { path: 'b' }
const c = { path: 'c' }

describe('the same call again and again', () => {
  test('is refused after as many as may come in a row, with what to do', async () => {
    const bench = await mount({ repeatsMax: 3 })
    expect(await calls(bench, a, a, a, a, a)).toEqual(['succeeded', 'succeeded', 'succeeded', 'denied', 'denied'])
    const { result } = await bench.call(a)
    expect(result.outcome).toMatchObject({
      tag: 'denied',
      executed: 'no',
      by: expect.stringContaining('guard repeat') as string,
    })
    expect(result.content).toMatchObject([
      {
        text: expect.stringContaining(
          'probe was called 6 times in the same way without anything new; do something else or say what is in the way',
        ) as string,
      },
    ])
    expect(bench.probe.runs).toBe(3)
  })

  test('counts in cycles of up to three calls too', async () => {
    for (const cycle of [
      [a, b],
      [a, b, c],
    ]) {
      const bench = await mount({ repeatsMax: 2 })
      const tags = await calls(bench, ...cycle, ...cycle, ...cycle)
      expect(tags.slice(0, cycle.length * 3 - 1)).not.toContain('denied')
      expect(tags.at(-1)).toBe('denied')
    }
  })

  test('is the same whatever the order of keys and the spaces in its text', async () => {
    const bench = await mount({ repeatsMax: 1 })
    const { session } = bench
    const texts = ['{"path":"a","n":1}', '{ "n": 1, "path": "a" }']
    const outcomes = []
    for (const [i, text] of texts.entries())
      outcomes.push(
        (await bench.ctx.tools.execute({ session, call: { id: `t${i}`, tool: 'probe', arguments: text } })).result
          .outcome.tag,
      )
    expect(outcomes).toEqual(['succeeded', 'denied'])
  })

  test('other arguments, another tool or a word of the person in between start anew', async () => {
    const bench = await mount({ repeatsMax: 2 })
    expect(await calls(bench, a, a, b, a, a)).not.toContain('denied')
    await bench.call({}, { tool: 'unknown' })
    expect(await calls(bench, a, a)).not.toContain('denied')
    bench.session.append('user/message', { content: [{ type: 'text', text: 'go on' }], source: 'user' })
    expect(await calls(bench, a, a)).not.toContain('denied')
    bench.session.append('user/message', { content: [{ type: 'text', text: 'context' }], source: 'hook' })
    expect(await calls(bench, a)).toEqual(['denied'])
  })

  test('the first calls of one message run, the ones too many do not', async () => {
    const bench = await mount({ repeatsMax: 2 }, { overlap: 'parallel' })
    const { calls: settled } = await bench.ctx.tools.batch({
      session: bench.session,
      calls: ['1', '2', '3', '4'].map((id) => ({ id, tool: 'probe', arguments: a as never })),
    })
    expect(settled.map(({ result }) => result.outcome.tag)).toEqual(['succeeded', 'succeeded', 'denied', 'denied'])
  })

  test('tools that poll can be left out, and calls of programs are not counted', async () => {
    const polling = await mount({ repeatsMax: 1, except: ['probe'] })
    expect(await calls(polling, a, a, a)).not.toContain('denied')
    const bench = await mount({ repeatsMax: 1, except: ['program'] })
    await bench.plugin('program', (ctx) => {
      ctx.tools.register({
        name: 'program',
        description: 'Calls probe three times.',
        parameters: { type: 'object' },
        async execute(_args, run) {
          for (let i = 0; i < 3; i++) await run.call('probe', a)
        },
      })
    })
    for (let i = 0; i < 2; i++) expect((await bench.call({}, { tool: 'program' })).result.outcome.tag).toBe('succeeded')
    expect(bench.probe.runs).toBe(6)
  })

  test('the memory is bounded', async () => {
    const bench = await mount({ repeatsMax: 20 })
    for (let i = 0; i < REMEMBERED_MAX + 10; i++) await bench.call({ i })
    expect(bench.session.fold(recentCalls)).toHaveLength(REMEMBERED_MAX)
  })

  test('repetitions are counted right for any cycle', () => {
    const letters = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(
        letters,
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.constantFrom('x!', 'y!', 'z!')),
        (cycle, times, before) => {
          const digests = [...before, 'start', ...Array.from({ length: times }, () => cycle).flat()]
          const recent = digests.map((digest, i) => ({ callId: String(i), digest }))
          expect(repetitions(recent, String(digests.length - 1))).toBe(times)
        },
      ),
    )
    expect(repetitions([], 'none')).toBe(1)
  })

  test('unloading the policy denies calls until it is back, and leaves no guard behind', async () => {
    const bench = await mount()
    await bench.policy.dispose()
    expect((await bench.call()).result.outcome).toMatchObject({ code: 'TOOLS_POLICY_MISSING', by: 'repeat-guard' })
    expect(bench.ctx.tools.live().guards).toEqual([])
  })
})
