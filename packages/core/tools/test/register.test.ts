import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import type { ToolDefinition } from '@sluice/tools'
import { makeBench } from './kit.ts'

const definition = (more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name: 'tool',
  description: 'A tool.',
  parameters: { type: 'object' },
  execute: () => 'done',
  ...more,
})

describe('a registration', () => {
  test.each(['', 'a b', 'a.b', '工具', 'x'.repeat(65), '__proto__ '])('%j is no name of a tool', async (name) => {
    const bench = await makeBench()
    await expect(bench.register(definition({ name }))).rejects.toMatchObject({
      code: 'TOOLS_NAME_INVALID',
      data: { name },
    })
  })

  test.each(['constructor', '__proto__', 'toString', 'x'.repeat(64)])('%s is a name like others', async (name) => {
    const bench = await makeBench()
    await bench.register(definition({ name }))
    expect((await bench.call(name)).result.outcome.tag).toBe('succeeded')
  })

  test('a name is taken once in a scope, and free again when its plugin is gone', async () => {
    const bench = await makeBench()
    const first = await bench.register(definition())
    await expect(bench.register(definition())).rejects.toMatchObject({
      code: 'TOOLS_NAME_TAKEN',
      data: { name: 'tool', plugin: `tool-tool#${first.uid}` },
    })
    await first.dispose()
    expect((await bench.call('tool')).result.outcome.tag).toBe('unknown-tool')
    await bench.register(definition({ execute: () => 'second' }))
    expect((await bench.call('tool')).result.value).toBe('second')
  })

  test('parameters are the schema of an object, whatever made it', async () => {
    const bench = await makeBench()
    const cyclic: Record<string, unknown> = { type: 'object' }
    cyclic['properties'] = { self: cyclic }
    for (const parameters of [{ type: 'string' }, {}, cyclic, [] as object])
      await expect(bench.register(definition({ parameters }))).rejects.toMatchObject({ code: 'TOOLS_SCHEMA_INVALID' })
  })

  test('an output schema is an object too', async () => {
    const bench = await makeBench()
    for (const output of [[], 'string', true] as object[])
      await expect(bench.register(definition({ output }))).rejects.toMatchObject({
        code: 'TOOLS_SCHEMA_INVALID',
        data: { which: 'output' },
      })
  })

  test('annotations are as given, and what is not said is not so', async () => {
    const bench = await makeBench()
    const words = ['readOnly', 'idempotent', 'destructive', 'openWorld', 'transparent', 'startsProcesses'] as const
    const none = Object.fromEntries(words.map((word) => [word, false]))
    await bench.register(definition({ name: 'plain' }))
    for (const word of words) await bench.register(definition({ name: word, annotations: { [word]: true } }))
    const seen = Object.fromEntries(bench.ctx.tools.visible().map(({ name, annotations }) => [name, annotations]))
    expect(seen['plain']).toEqual(none)
    for (const word of words) expect(seen[word]).toEqual({ ...none, [word]: true })
  })

  test('nobody can change what others see of it, nor a body its own definition', async () => {
    const bench = await makeBench()
    const execute = function (this: { render?: unknown }) {
      this.render = () => 'forged'
    }
    await bench.register(definition({ aliases: ['Tool'], output: {}, execute }))
    const [info] = bench.ctx.tools.visible()
    for (const part of [info, info?.annotations, info?.aliases, info?.parameters, info?.output])
      expect(Object.isFrozen(part)).toBe(true)
    expect((await bench.call('tool')).result.outcome).toMatchObject({ tag: 'failed', executed: 'yes' })
  })

  test('others can see how its bodies overlap', async () => {
    const bench = await makeBench()
    await bench.register(definition({ name: 'a' }))
    await bench.register(definition({ name: 'b', overlap: 'parallel' }))
    await bench.register(definition({ name: 'c', overlap: () => ({}) }))
    expect(bench.ctx.tools.visible().map(({ overlap }) => overlap)).toEqual(['exclusive', 'parallel', 'keys'])
  })

  test('a Standard JSON Schema is taken as what it makes', async () => {
    const bench = await makeBench()
    const made = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const parameters = { '~standard': { jsonSchema: { input: () => made } } }
    await bench.register(definition({ parameters }))
    expect(bench.ctx.tools.visible()[0]?.parameters).toEqual(made)
  })

  test('a schema of TypeBox is kept without its hidden marks', async () => {
    const bench = await makeBench()
    await bench.register(definition({ parameters: Type.Object({ n: Type.Optional(Type.Integer()) }) }))
    expect(bench.ctx.tools.visible()[0]?.parameters).toEqual({ type: 'object', properties: { n: { type: 'integer' } } })
  })
})
