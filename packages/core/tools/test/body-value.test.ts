/** Proves what a body may return or throw, and how its value is shown. */
/* oxlint-disable unicorn/no-thenable -- bodies return hostile thenables here */
import type { Json } from '@sluice/base'
import type { ToolDefinition } from '@sluice/tools'
import { probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { soundBench } from './sound.ts'

// 7.5
it('the content is rendered from the value: by the definition, or as text, or as JSON', async () => {
  const bench = await soundBench()
  const rows: [Partial<ToolDefinition>, unknown, unknown][] = [
    [{}, 'plain text', [{ type: 'text', text: 'plain text' }]],
    [{}, { a: [1] }, [{ type: 'text', text: '{"a":[1]}' }]],
    [{}, undefined, [{ type: 'text', text: '(no output)' }]],
    [{}, '', [{ type: 'text', text: '(no output)' }]],
    [
      { render: (value, args) => `${JSON.stringify(value)} for ${JSON.stringify(args)}` },
      5,
      [{ type: 'text', text: '5 for {"x":1}' }],
    ],
    [
      {
        render: () => [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      5,
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    ],
    [{ render: () => [] }, 5, [{ type: 'text', text: '(no output)' }]],
  ]
  for (const [index, [definition, value, content]] of rows.entries()) {
    const name = `tool${index}`
    await bench.register(probeTool({ name, body: () => value, ...definition }).definition)
    expect((await bench.call(name, { x: 1 })).result.content).toEqual(content)
  }
})

// 7.5, 9.1
it('a value that cannot be rendered makes the call fail, and says that the tool ran', async () => {
  const bench = await soundBench()
  const renders: ToolDefinition['render'][] = [
    () => {
      throw new Error('no picture')
    },
    () => 5 as never,
    () => [{ type: 'text' }] as never,
    () => [{ type: 'text', text: 'x', colour: 'red' }] as never,
    () => [{ type: 'image', mediaType: 'image/png', blob: { digest: 'short', size: 1 } }],
    () => [null] as never,
    () => Promise.resolve('later') as never,
  ]
  for (const [index, render] of renders.entries()) {
    const name = `tool${index}`
    await bench.register(probeTool({ name, render: render as never }).definition)
    const { result, data } = await bench.call(name)
    expect(result.outcome, name).toMatchObject({ tag: 'failed', executed: 'yes', code: 'TOOLS_BODY_FAILED' })
    expect(bench.results()).toContainEqual(data)
  }
})

// 7.5
it('a value that does not fit the output schema, or an output schema that is broken, makes the call fail', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ name: 'wrong', output: { type: 'number' }, body: () => 'five' }).definition)
  await bench.register(probeTool({ name: 'right', output: { type: 'number' }, body: () => 5 }).definition)
  expect((await bench.call('wrong')).result.outcome).toMatchObject({
    tag: 'failed',
    executed: 'yes',
    code: 'TOOLS_OUTPUT_INVALID',
  })
  expect((await bench.call('right')).result).toMatchObject({ outcome: { tag: 'succeeded' }, value: 5 })
  await bench.register(
    probeTool({ name: 'broken', output: { type: 'string', pattern: '(' }, body: () => 'x' }).definition,
  )
  const message = expect.stringContaining('the output schema of broken: Invalid regular expression')
  expect((await bench.call('broken')).result.outcome).toMatchObject({ tag: 'failed', executed: 'yes', message })
})

// 7.5, BUG-079
it('whatever a body returns, the call has one result: lossless JSON, or an error that names the path', async () => {
  const bench = await soundBench()
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  let deep: unknown = 1
  for (let i = 0; i < 20_000; i++) deep = [deep]
  let nearlyDeep: unknown = 1
  for (let i = 0; i < 999; i++) nearlyDeep = [nearlyDeep]
  let reads = 0
  const twoFaced = {
    get n() {
      return ++reads
    },
  }
  const broken = Object.assign(new Error('cyclic'), { self: cycle })
  const reject = (reason: unknown) => () => Promise.reject(reason as Error)
  const raise = (reason: unknown) => () => {
    throw reason
  }
  const rows: Record<string, [() => unknown, string]> = {
    bigint: [() => 1n, '$: bigint'],
    'deep bigint': [() => ({ a: [1, 2, 3n] }), '$.a[2]: bigint'],
    function: [() => () => 1, '$: function'],
    symbol: [() => Symbol('s'), '$: symbol'],
    NaN: [() => Number.NaN, '$: NaN'],
    'negative zero': [() => -0, '$: negative zero'],
    date: [() => new Date(0), '$: an instance of Date'],
    map: [() => new Map([[1, 2]]), '$: an instance of Map'],
    cycle: [() => cycle, 'nested more than'],
    'throwing getter': [
      () => ({
        get n() {
          throw new Error('no entry')
        },
      }),
      '$.n: reading it threw: no entry',
    ],
    'too deep': [() => deep, 'nested more than'],
    'nearly too deep': [() => nearlyDeep, 'nested more than'],
    'promise inside': [() => ({ p: Promise.resolve(1) }), '$.p: an instance of Promise'],
    buffer: [() => Buffer.from('x'), '$: an instance of Buffer'],
    hole: [() => Object.assign([1], { 2: 3 }), '$[1]: a hole'],
    'throw undefined': [raise(undefined), 'undefined'],
    'throw text': [raise('str'), 'str'],
    'throw null': [raise(null), 'null'],
    'reject with a cycle': [reject(broken), 'cyclic'],
    'reject with nothing': [reject(undefined), 'undefined'],
    'message that is no text': [raise(Object.assign(new Error('x'), { message: { a: 1 } })), '[object Object]'],
    'code that is no text': [raise(Object.assign(new Error('odd code'), { name: 'SluiceError', code: 5 })), 'odd code'],
    'code that throws': [
      raise(
        Object.defineProperties(new Error('shy code'), {
          name: { value: 'SluiceError' },
          code: {
            get: () => {
              throw new Error('no entry')
            },
          },
        }),
      ),
      'shy code',
    ],
    'name that throws': [
      raise(
        Object.defineProperty(new Error('shy name'), 'name', {
          get: () => {
            throw new Error('no entry')
          },
        }),
      ),
      'shy name',
    ],
    'half a surrogate': [raise(new Error('\ud800')), '\ufffd'],
    'then that throws': [
      () => ({
        get then() {
          throw new Error('no entry')
        },
      }),
      '$.then',
    ],
    'thenable that throws': [
      () => ({
        then: () => {
          throw new Error('no promise')
        },
      }),
      'no promise',
    ],
  }
  for (const [name, [body, problem]] of Object.entries(rows)) {
    const tool = name.replaceAll(' ', '_')
    await bench.register({ ...probeTool({ name: tool }).definition, execute: body })
    const { result } = await bench.call(tool)
    expect(result.outcome, name).toMatchObject({ tag: 'failed', executed: 'yes' })
    expect(JSON.stringify(result.content), name).toContain(JSON.stringify(problem).slice(1, -1))
  }
  const fine: [() => unknown, Json][] = [
    [() => undefined, null],
    [() => twoFaced, { n: 1 }],
    [
      () => ({
        then: (resolve: (value: number) => void) => {
          resolve(1)
          resolve(2)
        },
      }),
      1,
    ],
    [() => ({ then: 5 }), { then: 5 }],
    [
      () => JSON.parse('{"__proto__":{"x":1},"constructor":2}') as unknown,
      JSON.parse('{"__proto__":{"x":1},"constructor":2}') as Json,
    ],
  ]
  for (const [index, [body, value]] of fine.entries()) {
    await bench.register({ ...probeTool({ name: `fine${index}` }).definition, execute: body })
    const { result } = await bench.call(`fine${index}`)
    expect(result.outcome.tag).toBe('succeeded')
    expect(result.value).toEqual(value)
  }
  expect(bench.results()).toHaveLength(Object.keys(rows).length + fine.length)
})

// 7.5, BUG-079
it('a value changed after it was returned changes nothing', async () => {
  const bench = await soundBench()
  const value = { list: [1] }
  await bench.register(probeTool({ body: () => value }).definition)
  await bench.plugin('later', (ctx) => {
    ctx.on('tools/post-execute', (_call, _result, next) => {
      value.list.push(2)
      return next()
    })
  })
  const { result } = await bench.call('probe')
  value.list.push(3)
  expect(result.value).toEqual({ list: [1] })
  expect(bench.results()[0]?.value).toEqual({ list: [1] })
})
