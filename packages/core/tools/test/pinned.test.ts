import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import type { ToolDefinition } from '@sluice/tools'
import { describe, expect, test } from 'vitest'
import { steps } from './kit.ts'
import { soundBench } from './sound.ts'

/** A bench whose calls wait in prepare until they are let go. */
async function held(definition: ToolDefinition) {
  const bench = await soundBench()
  const fiber = await bench.register(definition)
  const gate = deferred()
  await bench.plugin('waits', (ctx) => {
    ctx.on('tools/prepare', async (_call, next) => (await gate.promise, next()))
  })
  return { bench, fiber, gate }
}

// 2.4
describe('the pinned definition', () => {
  test('whose plugin unloads before the body starts is refused, and never replaced by a newer one', async () => {
    const old = probeTool()
    const { bench, fiber, gate } = await held(old.definition)
    const running = bench.call('probe')
    await flushMicrotasks()
    await fiber.dispose()
    const newer = probeTool()
    await bench.register(newer.definition)
    gate.resolve()
    const settled = await running
    expect(settled.result.outcome).toMatchObject({ tag: 'failed', executed: 'no', code: 'TOOLS_DEFINITION_GONE' })
    expect([old.runs, newer.runs]).toEqual([0, 0])
    await bench.call('probe')
    expect([old.runs, newer.runs]).toEqual([0, 1])
  })

  test('that is shadowed by a nearer one while the call is on its way stays the one of the call', async () => {
    const { forAgent } = await import('@sluice/tools')
    const global = probeTool()
    const { bench, gate } = await held(global.definition)
    const running = bench.call('probe', {}, { agent: 'main' })
    await flushMicrotasks()
    const nearer = probeTool()
    await bench.plugin('nearer', (ctx) => void forAgent(ctx, 'main').tools.register(nearer.definition))
    gate.resolve()
    expect((await running).result.outcome.tag).toBe('succeeded')
    expect([global.runs, nearer.runs]).toEqual([1, 0])
  })

  test('is a copy: what a plugin changes on its own object afterwards changes nothing', async () => {
    const original = probeTool({ annotations: { readOnly: true }, aliases: ['Probe'] }).definition
    const definition = {
      ...original,
      parameters: { type: 'object', properties: { n: { type: 'integer' } } },
      annotations: { readOnly: true },
      aliases: ['Probe'],
      execute: () => 'pinned',
      render: (value: unknown) => `rendered ${String(value)}`,
    }
    const { bench, gate } = await held(definition)
    const running = bench.call('probe', { n: 1 })
    await flushMicrotasks()
    definition.execute = () => 'changed'
    definition.render = () => 'changed'
    definition.parameters.properties.n.type = 'string'
    definition.annotations.readOnly = false
    definition.aliases.push('Bash')
    gate.resolve()
    expect((await running).result.content).toEqual([{ type: 'text', text: 'rendered pinned' }])
    const second = await bench.call('probe', { n: 2 })
    expect(second.result.value).toBe('pinned')
    expect(bench.ctx.tools.visible()[0]).toMatchObject({ annotations: { readOnly: true }, aliases: ['Probe'] })
  })

  test('that is gone has none of its code called, and the call is settled all the same', async () => {
    const called: string[] = []
    const note = (what: string) => () => {
      called.push(what)
      throw new Error(what)
    }
    let gone = false
    const presentCall = () => {
      if (gone) called.push('presentCall')
      return { v: 1, kind: 'generic', title: 'Probe' } as const
    }
    const specifier = () => (gone ? (called.push('specifier'), 'x') : 'x')
    const { bench, fiber, gate } = await held({
      ...probeTool().definition,
      presentCall,
      specifier,
      presentResult: note('presentResult'),
      render: note('render'),
      finalizeContent: note('finalizeContent'),
      overlap: note('overlap'),
      execute: note('execute'),
    })
    await bench.plugin('rewrites', (ctx) => void ctx.on('tools/prepare', () => ({ changed: true }), { order: 1 }))
    const running = bench.call('probe')
    await flushMicrotasks()
    await fiber.dispose()
    gone = true
    gate.resolve()
    const settled = await running
    expect(called).toEqual([])
    expect(settled.result.outcome.executed).toBe('no')
    expect(settled.data.card.kind).toBe('generic')
    expect(steps(settled).at(-1)).toBe('result:recorded')
  })
})
