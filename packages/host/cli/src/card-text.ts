/** Owns how cards look as plain text: one line for the call, a bounded block for what came of it. */
import type { Card, Outcome, ToolResultData } from '@sluice/session'
import { cut, pluginText, printable, printableLine } from './printable.ts'

/** Lines of a result that are shown; the log has all of them. */
export const CARD_LINES_MAX = 12
export const CARD_LINE_CHARS_MAX = 160

/** A call that has been taken up and not settled. */
export function pendingText(card: Card): string {
  return `▸ ${headOf(card)}`
}

/** A settled call: its head with the outcome, then what is worth seeing of it. */
export function settledText(result: Readonly<ToolResultData>): string {
  return [headText(result), ...block(bodyOf(result.card, result))].join('\n')
}

/** What became of a call, on one line. */
export function headText({ card, outcome, durationMs }: Readonly<ToolResultData>): string {
  // A command that the abort has ended says by itself how it ended.
  const late = outcome.tag === 'succeeded' && outcome.late ? 'after the abort' : ''
  const note = [noteOf(card, outcome), late, durationMs === undefined ? '' : durationOf(durationMs)].filter(
    (part) => part !== '',
  )
  return `${markOf(outcome)} ${headOf(card)}${note.length > 0 ? `  (${note.join(', ')})` : ''}`
}

/** `1.2 s`, `40 ms`. */
export function durationOf(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms)} ms`
}

function headOf(card: Card): string {
  const text = card.kind === 'terminal' ? `${card.title} $ ${card.command}` : card.title
  return printableLine(text, CARD_LINE_CHARS_MAX)
}

function markOf({ tag }: Outcome): string {
  if (tag === 'succeeded') return '✔'
  return tag === 'denied' ? '⊘' : '✘'
}

function noteOf(card: Card, outcome: Outcome): string {
  if (outcome.tag !== 'succeeded') {
    // A card that no tool has made says the outcome in its title.
    const tag = card.title.endsWith(`: ${outcome.tag}`) ? '' : outcome.tag
    const detail =
      outcome.tag === 'denied' ? `by ${pluginText(outcome.by)}` : outcome.tag === 'failed' ? outcome.code : ''
    return `${tag} ${detail}`.trim()
  }
  if (card.kind === 'terminal' && card.exitCode !== undefined) return `exit ${card.exitCode ?? 'by signal'}`
  if (card.kind === 'search' && card.hits !== undefined) return card.hits === 1 ? '1 hit' : `${card.hits} hits`
  if (card.kind === 'read' && card.lines !== undefined) return `lines ${printableLine(card.lines, 40)}`
  return ''
}

function bodyOf(card: Card, { outcome, content }: Readonly<ToolResultData>): string {
  if (outcome.tag === 'denied') return outcome.reason
  if (outcome.tag === 'failed') return outcome.message
  if (outcome.tag !== 'succeeded')
    return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  switch (card.kind) {
    case 'terminal':
      return card.output ?? ''
    case 'diff':
      return card.diff
    case 'todo':
      return card.items.map((item) => `${todoMark[item.status]} ${item.text}`).join('\n')
    case 'generic':
    case 'search':
      return card.text ?? ''
    case 'read':
    case 'web':
      return ''
  }
}

const todoMark = { pending: '☐', doing: '◐', done: '☑' } as const

/** Indented, and bounded in lines and in characters of a line; says how much it left out. */
function block(text: string): string[] {
  const lines = printable(text).replace(/\n+$/, '').split('\n')
  if (lines.length === 1 && lines[0] === '') return []
  // The end of an output matters as much as its beginning.
  const half = Math.floor(CARD_LINES_MAX / 2)
  const shown =
    lines.length > CARD_LINES_MAX
      ? [...lines.slice(0, half), `… ${lines.length - 2 * half} lines …`, ...lines.slice(-half)]
      : lines
  return shown.map((line) => `    ${cut(line, CARD_LINE_CHARS_MAX)}`)
}
