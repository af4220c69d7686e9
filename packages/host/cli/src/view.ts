/** Owns what a person sees of a running session: streamed text, cards of calls, how turns end. */
import type { Agent } from '@sluice/agent'
import type { Session, SessionEvent, SessionEventType } from '@sluice/session'
import { pendingText, settledText } from './card-text.ts'
import { grantedText, GrantsTold, revokedText, withoutForged } from './grant-text.ts'
import { NestedCalls, nestedLines } from './nested-text.ts'
import { pluginText, printable, printableJson, printableLine } from './printable.ts'
import { type ToldEvent, toldInOrder } from './recorded-order.ts'
import type { Terminal } from './terminal.ts'
import { undoneText } from './undone-text.ts'

/** Writes what happens to `agent` until the disposer is called. */
export function showLive(terminal: Terminal, agent: Agent): () => void {
  let inLine = false
  const line = (text: string) => {
    terminal.write(`${inLine ? '\n' : ''}${text}${text === '' ? '' : '\n'}`)
    inLine = false
  }
  const offPieces = agent.onPiece((piece) => {
    if (piece.type !== 'text' || piece.text === '') return
    const text = printable(piece.text)
    terminal.write(text)
    inLine = !text.endsWith('\n')
  })
  const nested = new NestedCalls()
  const grants = new GrantsTold()
  const offEvents = agent.session.subscribe((event) => {
    if (!grants.isTold(event)) return
    const inside = insideOf(nested, event)
    if (inside !== undefined) line(inside)
    const text = said(live, event)
    if (text !== undefined) line(text)
    else if (event.type === 'turn/ended' && inLine) line('')
  })
  return () => {
    offPieces()
    offEvents()
    if (inLine) terminal.write('\n')
  }
}

/** Writes each event as one line of JSON, those from `from` on first. */
export function showJson(terminal: Terminal, session: Session, from: number): () => void {
  for (const event of session.events.slice(from - session.firstSeq)) terminal.write(`${printableJson(event)}\n`)
  return session.subscribe((event) => terminal.write(`${printableJson(event)}\n`))
}

/** Writes a whole recorded session. */
export function showRecorded(terminal: Terminal, session: Session): void {
  for (const { what, inside } of toldInOrder(withoutForged(session.events))) {
    const text = 'open' in what ? pendingText(what.open) : said(recorded, what)
    if (text !== undefined) terminal.write(`${text}\n`)
    for (const line of nestedLines(inside)) terminal.write(`${line}\n`)
  }
}

/** What the event says about calls inside a call of the model. */
function insideOf(nested: NestedCalls, event: SessionEvent): string | undefined {
  if (isA(event, 'tool/code-dispatch')) return nested.line(event.data)
  return isA(event, 'tool/result') ? nested.end(event.data.callId) : undefined
}

function isA<T extends SessionEventType>(event: SessionEvent, type: T): event is SessionEvent<T> {
  return event.type === type
}

type Texts = { readonly [T in SessionEventType]?: (data: SessionEvent<T>['data']) => string | undefined }

/** What is said about an event while it happens. */
const live: Texts = {
  'tool/call': ({ card }) => pendingText(card),
  'tool/rewritten': ({ by, card }) => `  rewritten by ${pluginText(by)}: ${printableLine(card.title, 120)}`,
  'tool/result': (data) => settledText(data),
  'permission/granted': (data) => `  ${grantedText(data)}`,
  'permission/revoked': (data) => `  ${revokedText(data)}`,
  'turn/ended': ({ reason, detail, code }) => {
    if (reason === 'completed') return undefined
    return `■ ${reason}${detail === undefined ? '' : `: ${printable(detail)}`}${code === undefined ? '' : ` (${code})`}`
  },
}

/** What is said about an event of a recorded session: calls only once, when they are settled. */
const recorded: Texts = {
  ...live,
  'tool/call': () => undefined,
  'session/started': ({ id, cwd }) => `session ${id} in ${printableLine(cwd, 200)}`,
  'user/message': ({ source, content }) => {
    const from = source === 'user' ? '' : ` [${printableLine(source, 40)}]`
    return `\n>${from} ${contentText(content)}`
  },
  'assistant/message': ({ content, interrupted }) => {
    const broken = interrupted === undefined ? '' : `\n  … ${printable(interrupted)}`
    return contentText(content) + broken || undefined
  },
  'fs/changed': undoneText,
  'session/lost': ({ detail }) => `  … ${printableLine(detail, 300)}`,
  'approval/decided': ({ decision, by }) => `  ${decision} by ${pluginText(by)}`,
}

function said(texts: Texts, event: ToldEvent): string | undefined {
  const text = texts[event.type as SessionEventType] as ((data: unknown) => string | undefined) | undefined
  return text?.(event.data)
}

/** The text of a message, with a word for each image. */
export function contentText(content: readonly { readonly type: string; readonly text?: string }[]): string {
  const texts = content.map((part) =>
    part.type === 'text' ? (part.text ?? '') : part.type === 'image' ? '[image]' : '',
  )
  return printable(texts.join(''))
}
