/** Owns the page of the tool-execution pipeline: the stage table as a flowchart and as tables, with who takes part now. */
import { type Booted, graphOf, mermaidOf, Participants } from '@sluice/graph'
import { nextOf, type StageRow, type StageTable } from '@sluice/pipeline'
import { batchTable, callTable } from '@sluice/tools'
import { declaredEvents, type KnownEvent } from './declared-events.ts'
import { code, fence, list, page, participant, table } from './markdown.ts'
import type { Page } from './types.ts'

function outcomesOf(row: StageRow): string {
  return Object.entries(row.outcomes)
    .map(([outcome, next]) => `${outcome} → ${code(next)}`)
    .join(', ')
}

function detoursOf(stages: StageTable, stage: string, row: StageRow): string {
  return (row.detours ?? []).map((detour) => `${detour} → ${code(nextOf(stages, stage, detour) ?? '')}`).join(', ')
}

/** A table, and what is known of the composition that lives it. */
interface Lived {
  readonly booted: Booted
  readonly stages: StageTable
  readonly participants: Participants
  readonly events: readonly KnownEvent[]
}

function stageSection({ stages, participants, events }: Lived, stage: string, row: StageRow): string {
  const { opened, answers } = row
  const parts = participants.of(opened).map(participant)
  const meanwhile = events.filter(({ during }) => during.includes(stage))
  const rows = [
    ['Opened to plugins as', opened === undefined ? '' : `${opened.kind} ${code(opened.name)}`],
    ['Provided by', opened?.kind === 'service' ? list(participants.providers(opened.name).map(participant)) : ''],
    ['Takes part now', opened === undefined || opened.kind === 'definition' ? '' : list(parts)],
    ['A listener may answer', (answers ?? []).join(', ')],
    ['Leads to', outcomesOf(row)],
    ['On failure', detoursOf(stages, stage, row)],
    ['A throw or expiry makes it', row.failsAs ?? ''],
    ['Meanwhile', meanwhile.map(({ kind, name }) => `${kind} ${code(name)}`).join(', ')],
    ['Writes', (row.writes ?? []).map(code).join(', ')],
    ['Shows', (row.shows ?? []).join(', ')],
  ].filter(([, value]) => value !== '')
  return [`### ${stage}`, row.does, table(['', ''], rows)].join('\n\n')
}

function chart({ booted, stages }: Lived): string {
  return fence('mermaid', mermaidOf(graphOf(booted, [], stages)))
}

function sections(lived: Lived): string[] {
  return Object.entries(lived.stages.stages).map(([stage, row]) => stageSection(lived, stage, row))
}

/** Prints `stages` as they are lived by `booted`. `batch` is the order around the calls of one message.
 *  @throws GRAPH_SERVICE_MISSING */
export function pipelinePage(booted: Booted, stages: StageTable = callTable, batch: StageTable = batchTable): Page {
  const participants = new Participants(booted)
  const { otherwise, mayAllow, required } = participants.live
  const calls: Lived = { booted, stages, participants, events: declaredEvents(booted) }
  const batches: Lived = { ...calls, stages: batch, events: [] }
  const text = page('Tool execution pipeline', booted.title, [
    'Solid arrows are outcomes; dotted arrows are what happens when a stage throws, takes too long or is aborted. A stage shows who takes part in it now, in dispatch order, and what it writes to the log.',
    chart(calls),
    '## Verdicts',
    table(
      ['', ''],
      [
        ['When every listener abstains', code(otherwise)],
        ['Plugins whose allow counts', list([...mayAllow].sort().map(code))],
        ['Plugins without which no call runs', list([...required].sort().map(code))],
      ],
    ),
    '## Stages',
    ...sections(calls),
    '## Batches',
    'All calls of one message of the model form a batch.',
    chart(batches),
    ...sections(batches),
  ])
  return { name: 'tool-execution-pipeline.md', text }
}
