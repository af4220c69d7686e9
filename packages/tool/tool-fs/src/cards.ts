/** Owns how calls and results of the file tools are shown to a person. */
import type { Card, ToolResult } from '@sluice/tools'
import type { EditArgs, ListArgs, ReadArgs, WriteArgs } from './arguments.ts'
import type { ChangeValue, ListValue, ReadValue } from './values.ts'

/** Lines of the difference on the card of a call that has not run. */
const PREVIEW_LINES_MAX = 200

export function readCard({ path, offset, limit }: ReadArgs): Card {
  const from = offset ?? 1
  const lines =
    offset === undefined && limit === undefined
      ? {}
      : { lines: limit === undefined ? `${from}-` : `${from}-${from + limit - 1}` }
  return { v: 1, kind: 'read', title: `Read ${path}`, path, ...lines }
}

export function readResultCard(args: ReadArgs, result: ToolResult): Card {
  const value = valueOf<ReadValue>(result)
  if (value?.kind !== 'text') return readCard(args)
  const last = value.from + value.lines.length - 1
  const total = value.total === undefined ? '' : ` of ${value.total}`
  return { v: 1, kind: 'read', title: `Read ${args.path}`, path: args.path, lines: `${value.from}-${last}${total}` }
}

export function writeCard({ path, content }: WriteArgs): Card {
  return { v: 1, kind: 'diff', title: `Write ${path}`, path, diff: preview(marked('+', content)) }
}

export function editCard({ path, edits }: EditArgs): Card {
  const lines = edits.flatMap(({ oldText, newText }) => [...marked('-', oldText), ...marked('+', newText)])
  return { v: 1, kind: 'diff', title: `Edit ${path}`, path, diff: preview(lines) }
}

export function changeResultCard(verb: string, path: string, pending: Card, result: ToolResult): Card {
  const value = valueOf<ChangeValue>(result)
  if (!value) return pending
  const title = `${verb} ${path} (+${value.linesAdded} −${value.linesRemoved})`
  return { v: 1, kind: 'diff', title, path, diff: value.diff }
}

export function listCard({ path }: ListArgs): Card {
  return { v: 1, kind: 'generic', title: `List ${path ?? '.'}` }
}

export function listResultCard(args: ListArgs, result: ToolResult): Card {
  const value = valueOf<ListValue>(result)
  if (!value) return listCard(args)
  const count = value.entries.length + value.omitted
  return { v: 1, kind: 'generic', title: `List ${args.path ?? '.'} (${count} ${count === 1 ? 'entry' : 'entries'})` }
}

/** A value that a listener replaced fits the same output schema. */
function valueOf<T>(result: ToolResult): T | undefined {
  return result.outcome.tag === 'succeeded' ? (result.value as T | undefined) : undefined
}

function marked(sign: '+' | '-', text: string): string[] {
  return text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => sign + line)
}

function preview(lines: readonly string[]): string {
  if (lines.length <= PREVIEW_LINES_MAX) return lines.join('\n')
  return [...lines.slice(0, PREVIEW_LINES_MAX), `… ${lines.length - PREVIEW_LINES_MAX} more lines`].join('\n')
}
