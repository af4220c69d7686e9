import { assertPaired, probeTool } from '@sluice/testkit'
import fc from 'fast-check'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import type { KnownEvent, ToolCallData } from '@sluice/session'
import type { Bench } from './kit.ts'
import { soundBench } from './sound.ts'

const lastCall = (bench: Bench): Readonly<ToolCallData> | undefined =>
  (bench.session.events as readonly KnownEvent[]).filter((event) => event.type === 'tool/call').at(-1)?.data

async function probed(options: Parameters<typeof probeTool>[0] = {}) {
  const bench = await soundBench()
  const probe = probeTool(options)
  await bench.register(probe.definition)
  const problems = async (given: unknown) => {
    const { result } = await bench.call('probe', given as never)
    return result.outcome.tag === 'invalid' ? result.outcome.problems : result.outcome.tag
  }
  return { bench, probe, problems }
}

// 2.2
describe('argument text', () => {
  test('that is empty means no arguments', async () => {
    const { bench, probe } = await probed()
    for (const text of ['', ' ', '\n\t\r ', '\ufeff']) await bench.call('probe', text)
    expect(probe.args).toEqual([{}, {}, {}, {}])
  })

  test('that is no object is invalid', async () => {
    const { probe, problems } = await probed()
    for (const text of ['[]', '1', 'null', 'true', '[{}]'])
      expect(await problems(text)).toEqual([{ path: '$', problem: 'the arguments are not an object' }])
    expect(probe.runs).toBe(0)
  })

  test('that cannot be parsed is invalid, naming the position', async () => {
    const { probe, problems } = await probed()
    const cases: [string, number][] = [
      ['{"a":xx}', 5],
      ['{"a":1', 6],
      ['{"a" 1}', 5],
      ['hello', 0],
      ['{"a":tru}', 5],
      ["{'a':1}", 1],
      ['{"a":1} x', 8],
      ['{"path":"a","content":"xx', 25],
    ]
    for (const [text, position] of cases) {
      const found = await problems(text)
      expect(found, text).toMatchObject([{ path: '$' }])
      const problem = typeof found === 'string' ? found : (found[0]?.problem ?? '')
      const named = Number(/^not JSON at position (\d+): /.exec(problem)?.[1])
      expect(Math.abs(named - position), `${text}: ${problem}`).toBeLessThanOrEqual(3)
    }
    expect(probe.runs).toBe(0)
  })

  // BUG-077
  test('keys called __proto__ and constructor are data like others and harm nothing', async () => {
    const { bench, probe } = await probed({ body: (args) => args })
    const text = '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}},"s":"x"}'
    await bench.plugin('merges', (ctx) => {
      ctx.on('tools/prepare', async (_call, next) => ({ ...(await next()), more: 1 }))
    })
    const { result } = await bench.call('probe', text)
    const [args] = probe.args
    expect(Object.keys(args ?? {})).toEqual(['__proto__', 'constructor', 's', 'more'])
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype)
    expect((args as { isAdmin?: unknown }).isAdmin).toBeUndefined()
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined()
    expect(JSON.stringify(result.value)).toContain('"__proto__":{"isAdmin":true}')
    expect(JSON.stringify(lastCall(bench)?.arguments)).toBe(text)
  })

  // BUG-075
  test('halves of characters are replaced, escaped ones and keys too, and the replacement is recorded', async () => {
    const { bench, probe } = await probed()
    const texts = [
      '{"a":"x\ud83d"}',
      '{"a":"x\\ud83d"}',
      '{"x\\udc00":1,"good":"😀\\ud83d\\ude00"}',
      '{"a":["\ud99c",{"b":"\\udc00x"}]}',
    ]
    for (const text of texts) {
      await bench.call('probe', text)
      const call = lastCall(bench)
      expect(call?.repairs).toMatchObject([expect.stringMatching(/^\$: replaced lone surrogates in [12] strings$/)])
      expect(call?.argumentsText.isWellFormed()).toBe(true)
    }
    await bench.call('probe', { a: 'x\ud83d' })
    expect(probe.args).toEqual([
      { a: 'x\ufffd' },
      { a: 'x\ufffd' },
      { 'x\ufffd': 1, good: '😀😀' },
      { a: ['\ufffd', { b: '\ufffdx' }] },
      { a: 'x\ufffd' },
    ])
    await bench.call('probe', { a: '😀' })
    expect(lastCall(bench)?.repairs).toBeUndefined()
    assertPaired(bench.session.messages())
    expect(JSON.stringify(bench.session.events).replaceAll('\\\\', '')).not.toMatch(/\\ud[89a-f]/)
  })

  // BUG-075
  test('two keys that are the same without their halves are refused, not merged', async () => {
    const { probe, problems } = await probed()
    expect(await problems('{"\\ud800":1,"\\ud801":2}')).toMatchObject([
      { problem: expect.stringContaining('surrogates') },
    ])
    expect(probe.runs).toBe(0)
  })
})

// 2.3
describe('argument values', () => {
  test('that JSON would drop or change are refused with their path, and the call is logged all the same', async () => {
    const { bench, probe, problems } = await probed()
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    let deep: unknown = 1
    for (let i = 0; i < 5_000; i++) deep = [deep]
    const getter = {
      get a() {
        throw new Error('no')
      },
    }
    const cases: [unknown, string][] = [
      [{ a: undefined }, '$.a'],
      [{ a: [1, () => 1] }, '$.a[1]'],
      [{ a: Symbol('s') }, '$.a'],
      [{ a: { b: [1n] } }, '$.a.b[0]'],
      [{ a: Number.NaN }, '$.a'],
      [{ a: Number.POSITIVE_INFINITY }, '$.a'],
      [{ a: -0 }, '$.a'],
      [{ a: Object.assign(new Array(2), [1]) }, '$.a[1]'],
      [{ a: new Date(0) }, '$.a'],
      [{ 'odd key': new Map() }, '$["odd key"]'],
      [getter, '$.a'],
      [Object.defineProperty({}, 'hidden', { value: 1 }), '$'],
      [() => 1, '$'],
      [Promise.resolve({}), '$'],
      [1n, '$'],
    ]
    for (const [value, path] of cases) expect(await problems(value), path).toMatchObject([{ path }])
    for (const value of [cycle, { a: deep }])
      expect(await problems(value)).toMatchObject([{ problem: expect.stringContaining('deep') }])
    expect(await problems({ toJSON: () => ({ a: 1 }) })).toMatchObject([{ path: '$.toJSON' }])
    expect(probe.runs).toBe(0)
    expect(bench.session.events.filter(({ type }) => type === 'tool/call')).toHaveLength(cases.length + 3)
  })

  test('are copied once: getters run once, later changes see nothing, the log holds what ran', async () => {
    const { bench, probe } = await probed()
    let reads = 0
    const value = {
      get n() {
        return ++reads
      },
      list: [1],
    }
    const running = bench.call('probe', value)
    value.list.push(2)
    await running
    expect(reads).toBe(1)
    expect(probe.args).toEqual([{ n: 1, list: [1] }])
    expect(lastCall(bench)).toMatchObject({ argumentsText: '{"n":1,"list":[1]}', arguments: { n: 1, list: [1] } })
  })

  test('are frozen deeply', async () => {
    const { bench, probe } = await probed()
    await bench.call('probe', { a: [{ b: 1 }] })
    const frozen = (value: unknown): boolean =>
      value === null || typeof value !== 'object' || (Object.isFrozen(value) && Object.values(value).every(frozen))
    expect(probe.args.every(frozen)).toBe(true)
  })

  test('any JSON object reaches the body as it is, given as value or as text', async () => {
    const { bench, probe } = await probed({ repair: false })
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue({ noUnicodeString: false })), async (value) => {
        const json = JSON.parse(JSON.stringify(value).toWellFormed()) as never
        await bench.call('probe', json)
        await bench.call('probe', JSON.stringify(json))
        expect(probe.args.slice(-2)).toEqual([json, json])
        expect(JSON.stringify(probe.args.at(-1))).toBe(JSON.stringify(json))
        expect(JSON.stringify(lastCall(bench)?.arguments)).toBe(JSON.stringify(json))
      }),
      { numRuns: 100 },
    )
  })
})

const tidy = Type.Object({
  q: Type.Optional(Type.Array(Type.String())),
  n: Type.Optional(Type.Integer()),
  f: Type.Optional(Type.Number()),
  b: Type.Optional(Type.Boolean()),
  o: Type.Optional(Type.Object({ k: Type.Optional(Type.Integer()) })),
  s: Type.Optional(Type.String()),
})

// 2.5, BUG-073
describe('values that arrive as strings', () => {
  test('are taken where the schema wants them, recorded, and are what listeners and body see', async () => {
    const { bench, probe } = await probed({ parameters: tidy })
    const seen: unknown[] = []
    await bench.plugin('looks', (ctx) => {
      ctx.on('tools/prepare', (call, next) => (seen.push(call.args), next()))
      ctx.on('tools/pre-execute', (call, next) => (seen.push(call.args), next()))
    })
    await bench.call('probe', { q: '["a"]', n: '12', f: '-1.5e1', b: 'true', o: '{"k":"3"}', s: '["a"]' })
    const fixed = { q: ['a'], n: 12, f: -15, b: true, o: { k: 3 }, s: '["a"]' }
    expect(probe.args).toEqual([fixed])
    expect(seen).toEqual([fixed, fixed])
    expect(lastCall(bench)).toMatchObject({
      arguments: fixed,
      repairs: [
        '$.q: took array from a string',
        '$.n: took number from a string',
        '$.f: took number from a string',
        '$.b: took boolean from a string',
        '$.o: took object from a string',
        '$.o.k: took number from a string',
      ],
    })
  })

  test('that are only nearly right are refused, naming each field', async () => {
    const { probe, problems } = await probed({ parameters: tidy })
    const bad: [string, unknown][] = [
      ['q', '["a"'],
      ['q', '{"a":1}'],
      ['n', '12px'],
      ['n', ''],
      ['n', ' 12'],
      ['n', '1e999'],
      ['n', '1.5'],
      ['n', '0x10'],
      ['n', '012'],
      ['n', '-0'],
      ['n', '12345678901234567890'],
      ['f', 'NaN'],
      ['f', 'Infinity'],
      ['f', '1_000'],
      ['b', 'True'],
      ['b', 'yes'],
      ['b', '1'],
      ['o', '[]'],
      ['o', 'null'],
    ]
    for (const [field, value] of bad) {
      const found = await problems({ [field]: value })
      expect(found, `${field}: ${String(value)}`).toMatchObject([{ path: `$.${field}` }])
    }
    expect(await problems({ n: 'x', b: 'y', q: 1 })).toHaveLength(3)
    expect(probe.runs).toBe(0)
  })

  test('a null for an optional field is left out, one for a needed field or one that may be null is not', async () => {
    const { bench, probe, problems } = await probed({
      parameters: Type.Object({
        must: Type.Integer(),
        may: Type.Optional(Type.Integer()),
        nullable: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
        either: Type.Optional(Type.Unsafe<unknown>({ type: ['integer', 'null'] })),
      }),
    })
    await bench.call('probe', { must: 1, may: null, nullable: null, either: null })
    expect(probe.args).toEqual([{ must: 1, nullable: null, either: null }])
    expect(lastCall(bench)?.repairs).toEqual(['$.may: left out a null'])
    expect(await problems({ must: null })).toMatchObject([{ path: '$.must' }])
  })

  test('arguments that were encoded twice are taken, or refused when the inner text is no object', async () => {
    const { bench, probe, problems } = await probed({ parameters: tidy })
    await bench.call('probe', JSON.stringify('{"s":"x"}'))
    expect(probe.args).toEqual([{ s: 'x' }])
    expect(lastCall(bench)?.repairs).toEqual(['$: took the JSON inside a string'])
    expect(await problems('"hello"')).toMatchObject([{ path: '$' }])
    expect(await problems('"[]"')).toMatchObject([{ problem: 'the arguments are not an object' }])
  })

  test('a definition that opts out gets nothing repaired', async () => {
    const { probe, problems } = await probed({ parameters: tidy, repair: false })
    expect(await problems({ n: '12' })).toMatchObject([{ path: '$.n' }])
    expect(await problems({ n: null })).toMatchObject([{ path: '$.n' }])
    expect(await problems('"{}"')).toMatchObject([{ problem: 'the arguments are not an object' }])
    expect(probe.runs).toBe(0)
  })

  test('a repair that would not be enough is not made: the problems are those of what was given', async () => {
    const { bench, problems } = await probed({ parameters: tidy })
    const found = await problems({ n: '12', b: 'perhaps' })
    expect(found).toMatchObject([{ path: '$.n' }, { path: '$.b' }])
    expect(lastCall(bench)?.repairs).toBeUndefined()
  })
})

// BUG-074
test('arguments that were cut off are never repaired into something that runs', async () => {
  const { bench, probe } = await probed()
  const batch = (cutOff: string | undefined, ...texts: string[]) =>
    bench.ctx.tools.batch({
      session: bench.session,
      calls: texts.map((text, i) => ({ id: `x${bench.session.events.length}-${i}`, tool: 'probe', arguments: text })),
      ...(cutOff !== undefined && { cutOff }),
    })
  const cut = await batch('length', '{"path":"a","content":"xx')
  const two = await batch('the stream broke', '{"path":"a"}', '{"path":')
  for (const { result } of [...cut.calls, ...two.calls]) {
    expect(result.outcome).toMatchObject({ tag: 'aborted', executed: 'no' })
    expect(result.content).toMatchObject([{ text: expect.stringContaining('send a smaller message') as string }])
  }
  expect((await bench.call('probe', '{"path":"a","content":"xx')).result.outcome.tag).toBe('invalid')
  expect(probe.runs).toBe(0)
  await bench.call('probe', '')
  expect(probe.args).toEqual([{}])
})
