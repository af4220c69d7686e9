import { flaws } from '@sluice/pipeline'
import { probeTool } from '@sluice/testkit'
import {
  batchTable,
  type CallAnswer,
  callEvents,
  type CallOutcome,
  type CallStage,
  callTable,
  type PostVerdict,
  toolsEvents,
  type Verdict,
} from '@sluice/tools'
import type { KnownEvent } from '@sluice/session'
import type { Events } from 'cordis'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { soundBench } from './sound.ts'

describe('the tables', () => {
  // 1.1
  test('of a call and of a batch are sound, and cannot be changed', () => {
    expect(flaws(callTable)).toEqual([])
    expect(flaws(batchTable)).toEqual([])
    expect(() => Object.assign(callTable.stages['pre-execute'].outcomes, { deny: 'execute' })).toThrow(TypeError)
    expect(() => (callTable.stages.guards.detours as unknown as string[]).pop()).toThrow(TypeError)
  })

  // 1.1
  test('every refusal and every throw before execute leads past the body', () => {
    const { stages, rescue } = callTable
    expect(stages['pre-execute'].outcomes.deny).toBe('denied')
    for (const stage of ['screen', 'guards'] as const) expect(stages[stage].outcomes.deny).toBe('denied')
    const { 'allowed-once': allowed, ...others } = stages.approval.outcomes
    expect(allowed).toBe('guards')
    expect(new Set(Object.values(others))).toEqual(new Set(['denied']))
    const into = Object.entries(stages).filter(([, row]) =>
      (Object.values(row.outcomes) as string[]).includes('execute'),
    )
    expect(into.map(([stage]) => stage)).toEqual(['guards'])
    for (const stage of ['prepare', 'pre-execute', 'screen', 'approval', 'guards'] as const)
      expect(stages[stage].detours).toEqual(expect.arrayContaining(['threw', 'aborted']))
    expect(rescue).toBe('normalize')
  })

  // 1.2
  test('give the types of stages, outcomes, verdicts and listeners', () => {
    expectTypeOf<CallStage>().toEqualTypeOf<keyof (typeof callTable)['stages']>()
    expectTypeOf<CallOutcome<'guards'>>().toEqualTypeOf<'pass' | 'deny'>()
    expectTypeOf<Exclude<Verdict['kind'], 'abstain'>>().toEqualTypeOf<CallAnswer<'pre-execute'>>()
    expectTypeOf<PostVerdict['kind']>().toEqualTypeOf<CallAnswer<'post-execute'>>()
    type Opened = Extract<
      { [S in CallStage]: (typeof callTable)['stages'][S] }[CallStage],
      { opened: { kind: 'waterfall' | 'notification' } }
    >['opened']['name']
    expectTypeOf<Opened>().toEqualTypeOf<Extract<keyof Events, `tools/${string}`>>()
  })

  // 1.2, docs-graphs 3
  test('declare each event of the call table with the kind that its stage has', () => {
    const opened = Object.values(callTable.stages).flatMap((row) =>
      'opened' in row && callEvents.includes(row.opened.name) ? [[row.opened.name, row.opened.kind]] : [],
    )
    expect(Object.entries(toolsEvents.events).map(([name, { kind }]) => [name, kind])).toEqual(opened)
  })

  // 1.2
  test('name the events that plugins can listen on', () => {
    expect(callEvents).toEqual([
      'tools/prepare',
      'tools/pre-execute',
      'tools/execute',
      'tools/post-execute',
      'tools/result',
    ])
  })

  // 1.2
  test('list every event that a call writes', async () => {
    const bench = await soundBench({ approval: true, config: { otherwise: 'ask' } })
    await bench.register(probeTool().definition)
    await bench.register({ ...probeTool({ name: 'outer' }).definition, execute: (_args, run) => run.call('probe', {}) })
    await bench.plugin('rewrites', (ctx) => void ctx.on('tools/prepare', () => ({ changed: true })))
    await bench.ctx.plugin({
      name: 'person',
      inject: ['approval'],
      apply: (ctx) => void ctx.approval.answerer('person', ({ callId }) => ({ callId, kind: 'allow-once' })),
    })
    await bench.call('outer')
    const listed = new Set<string>(
      Object.values(callTable.stages).flatMap((row) => ('writes' in row ? row.writes : [])),
    )
    const written = new Set<string>((bench.session.events as readonly KnownEvent[]).map(({ type }) => type))
    written.delete('session/started')
    expect(written).toEqual(listed)
  })
})
