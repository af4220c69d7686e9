/** Owns the page of the session log: the event types that are registered now. */
import { type Booted, compare, Plugins, serviceOf } from '@sluice/graph'
import type { StageTable } from '@sluice/pipeline'
import { callTable } from '@sluice/tools'
import { code, fence, page, table } from './markdown.ts'
import { schemaText } from './schema-text.ts'
import type { Page, PageOptions } from './types.ts'

/** Stages that may write an event of this type. */
function writersOf(type: string, { stages }: StageTable): string[] {
  return Object.keys(stages).filter((stage) => stages[stage]?.writes?.includes(type))
}

/** @throws GRAPH_SERVICE_MISSING */
export function sessionEventsPage(booted: Booted, { stages = callTable }: PageOptions = {}): Page {
  const plugins = new Plugins(booted)
  const types = [...serviceOf(booted, 'sessions').types()].sort((a, b) => compare(a.type, b.type))
  const rows = types.map(({ type, owner, definition }) => [
    code(type),
    plugins.nameOf(owner),
    writersOf(type, stages).map(code).join(', '),
    definition.modelVisible === true ? 'yes' : 'no',
    definition.meaning,
  ])
  const schemas = types.flatMap(({ type, definition }) => [
    `### ${type}`,
    `Version ${definition.version}.`,
    fence('ts', schemaText(definition.schema)),
  ])
  const text = page('Session events', booted.title, [
    'A session is a list of events. What the model sees is derived from those that it sees.',
    table(['Type', 'Registered by', 'Written in stage', 'Seen by the model', 'Meaning'], rows),
    '## Data',
    ...schemas,
  ])
  return { name: 'session-events.md', text }
}
