import { nextOf, type StageTable } from '@sluice/pipeline'
import type { SessionEvent } from '@sluice/session'
import { bootWith, part } from '@sluice/testkit/composition'
import { probeTool } from '@sluice/testkit'
import { policyBench } from '@sluice/testkit/host'
import { callTable, type ToolDefinition } from '@sluice/tools'
import { describe, expect, it } from 'vitest'
import { CALLS_NAMED_MAX, graphOf, mermaidOf, recordedCalls } from '../src/index.ts'

/** What a call that went past `steps` (`stage:outcome`) leaves in the log. */
function recorded(callId: string, tag: string, steps: readonly string[] | undefined): SessionEvent[] {
  const trace = steps?.map((step) => ({ stage: step.split(':')[0], outcome: step.split(':')[1], ms: 1 }))
  const data = { callId, tool: 'look', outcome: { tag }, ...(trace && { trace: JSON.stringify(trace) }) }
  return [
    { type: 'tool/call', data: { callId, tool: 'look' } },
    { type: 'tool/result', data },
  ] as unknown as SessionEvent[]
}

const outer: ToolDefinition = {
  ...probeTool({ name: 'outer' }).definition,
  execute: (_args, run) => run.call('probe', {}),
}

const unknown = ['admit:unknown-tool', 'result:recorded']

/** Edges that are drawn thick, as `stage:outcome, outcome`. */
function thick(chart: string, table: StageTable = callTable): string[] {
  const stages = Object.keys(table.stages)
  const edges = [...chart.matchAll(/^ {2}s(\d+) -\.?->\|"(.*)"\| /gm)]
  const indices = /linkStyle ([\d,]+)/.exec(chart)?.[1]?.split(',') ?? []
  return indices.map((index) => `${stages[Number(edges[Number(index)]?.[1])]}:${edges[Number(index)]?.[2]}`)
}

async function drawn(events: readonly SessionEvent[]): Promise<string> {
  const booted = await bootWith({})
  const chart = mermaidOf(graphOf(booted, recordedCalls(events, callTable)))
  await booted.dispose()
  return chart
}

// docs-graphs 5
describe('the graph', () => {
  it('is the table, with who takes part in each stage now', async () => {
    const booted = await bootWith({
      './mine.ts': part('mine', (ctx) => ctx.on('tools/execute', (_call, _run, next) => next(), { order: 3 })),
      lock: part('lock', (ctx) => ctx.tools.guard('never', () => undefined)),
    })
    const graph = graphOf(booted)
    await booted.dispose()
    expect(JSON.parse(JSON.stringify(graph))).toMatchObject({
      composition: 'app/sluice.yml',
      table: callTable,
      takesPart: {
        admit: [],
        execute: [{ plugin: 'mine', from: './mine.ts', order: 3 }],
        screen: [{ plugin: 'lock', what: 'never' }],
      },
      calls: [],
    })
    expect(mermaidOf(graph)).toContain('execute<br/>waterfall tools/execute<br/>mine (order 3)')
    expect(thick(mermaidOf(graph))).toEqual([])
  })

  it('shows the way of each recorded call: thick edges, with the number of the way', async () => {
    const invalid = ['admit:admitted', 'prepare:invalid', 'finalize:finalized', 'result:recorded']
    const chart = await drawn([
      ...recorded('c1', 'unknown-tool', unknown),
      ...recorded('c2', 'invalid', invalid),
      ...recorded('c3', 'unknown-tool', unknown),
    ])
    expect(thick(chart)).toEqual([
      'admit:admitted (2)',
      'admit:unknown-tool (1), invalid, aborted',
      'prepare:invalid (2)',
      'finalize:finalized (2), dropped',
      'result:recorded (1, 2)',
    ])
    expect(chart).toContain('w1["way 1<br/>look c1: unknown-tool<br/>look c3: unknown-tool"]')
    expect(chart).toContain('w2["way 2<br/>look c2: invalid"]')
  })

  it('shows what is no way as one of its own, with the reason', async () => {
    const [begun] = recorded('c1', '', []) as [SessionEvent]
    const chart = await drawn([begun, ...recorded('c2', 'interrupted', undefined)])
    expect(chart).toContain('w1["way 1<br/>look c1: open<br/>it has no result"]')
    expect(chart).toContain('w2["way 2<br/>look c2: interrupted<br/>repair has settled it"]')
    expect(thick(chart)).toEqual([])
  })

  it('names a few of many calls that went the same way, and says how many more there are', async () => {
    const chart = await drawn(
      Array.from({ length: CALLS_NAMED_MAX + 2 }, (_, index) => recorded(`c${index}`, 'unknown-tool', unknown)).flat(),
    )
    expect(chart).toContain(`look c${CALLS_NAMED_MAX - 1}: unknown-tool<br/>and 2 more"]`)
  })
})

describe('the ways of recorded calls', () => {
  it('are edges of the table, for calls of a model and for those that they make', async () => {
    const bench = await policyBench({
      name: 'outer',
      inject: ['tools'],
      apply: (ctx) => void ctx.tools.register(outer),
    })
    await bench.call({}, { tool: 'outer' })
    const calls = recordedCalls(bench.session.events, callTable)
    expect(calls.map(({ tool, parent, outcome, problem }) => [tool, parent, outcome, problem])).toEqual([
      ['outer', undefined, 'succeeded', undefined],
      ['probe', 'c1', 'succeeded', undefined],
    ])
    for (const { stage, outcome } of calls.flatMap(({ steps }) => steps))
      expect(nextOf(callTable, stage, outcome)).toBeDefined()
    await bench.ctx.fiber.dispose()
  })

  it('say what is wrong with them: a step beside the table, no result, a repair', () => {
    const [begun] = recorded('c4', '', [])
    const calls = recordedCalls(
      [
        ...recorded('c1', 'succeeded', ['admit:admitted', 'prepare:ready', 'execute:done']),
        ...recorded('c2', 'interrupted', undefined),
        ...recorded('c3', 'unknown-tool', unknown),
        begun as SessionEvent,
      ],
      callTable,
    )
    expect(calls.map(({ callId, outcome, problem }) => [callId, outcome, problem])).toEqual([
      ['c1', 'succeeded', 'step 3: execute instead of pre-execute'],
      ['c2', 'interrupted', 'repair has settled it'],
      ['c3', 'unknown-tool', undefined],
      ['c4', undefined, 'it has no result'],
    ])
  })
})
