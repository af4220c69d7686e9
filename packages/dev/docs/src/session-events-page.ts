/** Owns the page of the session log: the event types that are registered now. */
import { type Booted, compare, Plugins, serviceOf } from '@sluice/graph'
import { code, fence, page, table } from './markdown.ts'
import { schemaText } from './schema-text.ts'
import type { Page } from './types.ts'

/** @throws GRAPH_SERVICE_MISSING */
export function sessionEventsPage(booted: Booted): Page {
  const plugins = new Plugins(booted)
  const types = [...serviceOf(booted, 'sessions').types()].sort((a, b) => compare(a.type, b.type))
  const rows = types.map(({ type, owner, definition }) => [
    code(type),
    plugins.nameOf(owner),
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
    table(['Type', 'Registered by', 'Seen by the model', 'Meaning'], rows),
    '## Data',
    ...schemas,
  ])
  return { name: 'session-events.md', text }
}
