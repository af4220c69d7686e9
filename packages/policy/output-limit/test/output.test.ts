import * as policy from '@sluice/output-limit'
import { cut } from '@sluice/output-limit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { policyBench } from '@sluice/testkit/host'

const mount = policyBench.bind(undefined, policy)

function textOf(content: readonly { readonly type: string }[]): string {
  return content.map((part) => ('text' in part ? String(part.text) : `[${part.type}]`)).join('|')
}

describe('a long result', () => {
  test('keeps its head and its tail, and the whole text is kept as a blob', async () => {
    const text = `${'a'.repeat(5_000)}${'b'.repeat(5_000)}`
    const bench = await mount({ charsMax: 100 }, { body: () => text })
    const { result } = await bench.call()
    expect(textOf(result.content)).toMatch(
      /^a{50}\n\[… 9900 characters omitted; the whole text is kept as blob [0-9a-f]{12} …\]\nb{50}$/,
    )
    const stored = bench.session.events.find(({ type }) => type === 'blob/stored')
    const { blob } = stored!.data as { blob: { digest: string; size: number } }
    expect(textOf(result.content)).toContain(blob.digest.slice(0, 12))
    expect(new TextDecoder().decode(await bench.session.getBlob(blob))).toBe(text)
    expect(result.value).toBe(text)
    expect(result.outcome).toEqual({ tag: 'succeeded', executed: 'yes' })
  })

  test('that just fits stays as it is', async () => {
    const bench = await mount({ charsMax: 100 }, { body: () => 'a'.repeat(100) })
    expect(textOf((await bench.call()).result.content)).toBe('a'.repeat(100))
    expect(bench.session.events.some(({ type }) => type === 'blob/stored')).toBe(false)
  })

  test('of many short parts is bounded as a whole, and images stay', async () => {
    const image = { type: 'image', mediaType: 'image/png', blob: { digest: 'a'.repeat(64), size: 1 } } as const
    const parts = Array.from({ length: 1_000 }, (_, i) => ({ type: 'text', text: `part ${i}` }) as const)
    const bench = await mount({ charsMax: 200 }, { render: () => [...parts, image] })
    const { result } = await bench.call()
    expect(result.content).toHaveLength(2)
    expect(textOf(result.content)).toMatch(/^part 0\npart 1\n[^]*part 999\|\[image\]$/)
    expect(textOf(result.content).length).toBeLessThan(400)
  })

  test('is bounded for failures and denials too', async () => {
    const bench = await mount(
      { charsMax: 100 },
      {
        body: () => {
          throw new Error('x'.repeat(10_000))
        },
      },
    )
    const failed = await bench.call()
    expect(failed.result.outcome.tag).toBe('failed')
    expect(textOf(failed.result.content).length).toBeLessThan(300)
    await bench.plugin(
      'talks',
      (ctx) => void ctx.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'y'.repeat(10_000) })),
    )
    const denied = await bench.call()
    expect(textOf(denied.result.content).length).toBeLessThan(300)
  })

  test('is cut after all other listeners, whatever they put into it', async () => {
    const long = { kind: 'replace', content: 'z'.repeat(10_000) } as const
    for (const early of [true, false]) {
      const bench = await mount({ charsMax: 100 })
      await bench.plugin('adds', (ctx) => {
        ctx.on('tools/post-execute', async (_call, _result, next) => (early || (await next()), long))
      })
      expect(textOf((await bench.call()).result.content).length).toBeLessThan(300)
    }
  })

  test('is cut even when the whole text cannot be kept, and says so', async () => {
    const bench = await mount({ charsMax: 100 }, { body: () => 'a'.repeat(10_000), annotations: { readOnly: true } })
    bench.session.putBlob = () => Promise.reject(new Error('no space left'))
    const { result } = await bench.call()
    expect(result.outcome.tag).toBe('succeeded')
    expect(textOf(result.content)).toMatch(
      /^a{50}\n\[… 9900 characters omitted; they could not be kept: no space left …\]\na{50}$/,
    )
  })

  test('is cut on characters: halves are never left, and nothing is lost or doubled', () => {
    const texts = fc.string({ unit: 'binary', minLength: 101, maxLength: 300 }).filter((text) => text.length > 100)
    fc.assert(
      fc.property(texts, fc.integer({ min: 100, max: 100 }), (text, charsMax) => {
        const { head, tail, omitted } = cut(text.toWellFormed(), charsMax)
        expect(head.isWellFormed() && tail.isWellFormed()).toBe(true)
        expect(head.length + tail.length).toBeLessThanOrEqual(charsMax)
        expect(head.length + tail.length + omitted).toBe(text.length)
        expect(text.toWellFormed().startsWith(head) && text.toWellFormed().endsWith(tail)).toBe(true)
      }),
    )
    const pairs = cut('😀'.repeat(100), 101)
    expect([pairs.head, pairs.tail]).toEqual(['😀'.repeat(25), '😀'.repeat(25)])
  })

  test('unloading the policy denies calls until it is back, and leaves no listener behind', async () => {
    const bench = await mount()
    await bench.policy.dispose()
    expect((await bench.call()).result.outcome).toMatchObject({ code: 'TOOLS_POLICY_MISSING', by: 'output-limit' })
    expect(bench.ctx.tools.live().listeners.get('tools/post-execute')).toEqual([])
  })
})
