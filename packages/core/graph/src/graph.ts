/** Owns the graph of a composition: the stage table with who takes part in it now, and with the ways that recorded calls took. */
import { mermaidLabel, type StageTable, toMermaid } from '@sluice/pipeline'
import { callTable } from '@sluice/tools'
import type { Booted } from './boot.ts'
import { type Participant, Participants, participantText } from './participants.ts'
import type { RecordedCall } from './recorded-calls.ts'

/** Plain data: `JSON.stringify` gives equal bytes for equal compositions and logs. */
export interface Graph {
  /** Its title. */
  readonly composition: string
  readonly table: StageTable
  /** By stage. */
  readonly takesPart: Readonly<Record<string, readonly Participant[]>>
  readonly calls: readonly RecordedCall[]
}

/** Calls that are named beside one way. */
export const CALLS_NAMED_MAX = 5

/** @throws GRAPH_SERVICE_MISSING */
export function graphOf(booted: Booted, calls: readonly RecordedCall[] = [], table: StageTable = callTable): Graph {
  const participants = new Participants(booted)
  const rows = Object.entries(table.stages)
  const takesPart = Object.fromEntries(rows.map(([stage, { opened }]) => [stage, participants.of(opened)]))
  return { composition: booted.title, table, takesPart, calls }
}

/** The graph as a Mermaid flowchart. Calls that went the same way share its number, which stands at each of their steps. */
export function mermaidOf({ table, takesPart, calls }: Graph): string {
  const ways = waysOf(calls)
  const taken = (stage: string, outcome: string) => {
    const numbers = ways.flatMap(([first], index) =>
      first?.steps.some((step) => step.stage === stage && step.outcome === outcome) ? [index + 1] : [],
    )
    return numbers.length === 0 ? undefined : numbers.join(', ')
  }
  const live = (stage: string) => (takesPart[stage] ?? []).map((participant) => participantText(participant))
  return `${toMermaid(table, live, taken)}${legend(ways)}`
}

type Way = readonly RecordedCall[]

/** Calls by the way that they took, in the order in which it was first taken. */
function waysOf(calls: readonly RecordedCall[]): Way[] {
  const ways = new Map<string, RecordedCall[]>()
  for (const call of calls) {
    const key = JSON.stringify([call.steps, call.problem])
    ways.set(key, [...(ways.get(key) ?? []), call])
  }
  return [...ways.values()]
}

function legend(ways: readonly Way[]): string {
  if (ways.length === 0) return ''
  const nodes = ways.map((way, index) => `    w${index + 1}[${mermaidLabel(wayLines(way, index + 1))}]\n`)
  return `  subgraph calls[${mermaidLabel(['Recorded calls'])}]\n${nodes.join('')}  end\n`
}

function wayLines(way: Way, number: number): string[] {
  const named = way
    .slice(0, CALLS_NAMED_MAX)
    .map(({ tool, callId, outcome = 'open' }) => `${tool} ${callId}: ${outcome}`)
  const more = way.length > named.length ? [`and ${way.length - named.length} more`] : []
  const problem = way[0]?.problem
  return [`way ${number}`, ...named, ...more, ...(problem === undefined ? [] : [problem])]
}
