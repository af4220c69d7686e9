/** Owns a recorded session as one text: Markdown for people, JSON for programs. */
import type { Session, SessionEvent, ToolResultData } from '@sluice/session'
import { headText, pendingText } from './card-text.ts'
import { grantedText, revokedText, withoutForged } from './grant-text.ts'
import { momentText } from './moments.ts'
import { printable, printableJson, printableLine } from './printable.ts'
import { type ToldEvent, toldInOrder } from './recorded-order.ts'
import { undoneText } from './undone-text.ts'
import { contentText } from './view.ts'

export type ExportFormat = 'markdown' | 'json'

/** The pieces of the text, in order. */
export function exported(session: Session, format: ExportFormat): Iterable<string> {
  return format === 'json' ? json(session) : markdown(session)
}

/** One object; each event on a line of its own, as the log has it. */
function* json({ id, cwd, findings, events }: Session): Generator<string> {
  yield `{"id":${printableJson(id)},"cwd":${printableJson(cwd)},"findings":${printableJson(findings)},"events":[`
  let before = '\n'
  for (const event of events) {
    yield `${before}${printableJson(event)}`
    before = ',\n'
  }
  yield '\n]}\n'
}

function* markdown({ id, cwd, findings, events }: Session): Generator<string> {
  const [first] = events
  const last = events.at(-1)
  yield `# Session ${id}\n\n- Folder: ${code(cwd)}\n`
  if (first && last) yield `- From ${momentText(first.at)} to ${momentText(last.at)} UTC, last event ${last.seq}\n`
  for (const { line, kind, detail } of findings)
    yield `- Damaged at line ${line}: ${kind}: ${printableLine(detail, 300)}\n`
  for (const { what, inside } of toldInOrder(withoutForged(events))) {
    const text = 'open' in what ? `### ${pendingText(what.open)}` : sectionOf(what)
    if (text !== undefined) yield `\n${text}\n`
    for (const { result } of inside) yield `\n${callSection('####', result)}\n`
  }
}

function sectionOf(event: ToldEvent): string | undefined {
  return sections[event.type as keyof typeof sections]?.(event as never)
}

const sections = {
  'user/message': ({ data: { source, content } }: SessionEvent<'user/message'>) =>
    `## ${source === 'user' ? 'User' : `Context from ${printableLine(source, 60)}`}\n\n${contentText(content)}`,
  'assistant/message': ({ data: { content, interrupted } }: SessionEvent<'assistant/message'>) => {
    const text = contentText(content)
    if (text === '' && interrupted === undefined) return undefined
    const broken = interrupted === undefined ? '' : `\n\n*Interrupted: ${printableLine(interrupted, 300)}*`
    return `## Assistant\n\n${text}${broken}`
  },
  'tool/result': ({ data }: SessionEvent<'tool/result'>) => callSection('###', data),
  'permission/granted': ({ data }: SessionEvent<'permission/granted'>) => `*${grantedText(data)}*`,
  'permission/revoked': ({ data }: SessionEvent<'permission/revoked'>) => `*${revokedText(data)}*`,
  'fs/changed': ({ data }: SessionEvent<'fs/changed'>) => {
    const text = undoneText(data)
    return text === undefined ? undefined : `*${text}*`
  },
  'session/lost': ({ data: { detail } }: SessionEvent<'session/lost'>) => `*${printableLine(detail, 300)}*`,
  'turn/ended': ({ data: { reason, detail } }: SessionEvent<'turn/ended'>) => {
    if (reason === 'completed') return undefined
    return `*Turn ended: ${reason}${detail === undefined ? '' : `: ${printableLine(detail, 300)}`}*`
  },
  'compaction/done': ({ data: { summary } }: SessionEvent<'compaction/done'>) =>
    `## Summary in place of what came before\n\n${printable(summary)}`,
}

function callSection(level: string, result: Readonly<ToolResultData>): string {
  const { text, language } = bodyOf(result)
  return `${level} ${headText(result)}${text === '' ? '' : `\n\n${fenced(text, language)}`}`
}

/** What changed says more than that it was changed. */
function bodyOf({ card, outcome, content }: Readonly<ToolResultData>): { text: string; language: string } {
  if (card.kind === 'diff' && outcome.tag === 'succeeded') return { text: printable(card.diff), language: 'diff' }
  return { text: contentText(content), language: '' }
}

/** A fence longer than any that the text holds. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`
}

function code(text: string): string {
  return `\`${printableLine(text, 300).replaceAll('`', "'")}\``
}
