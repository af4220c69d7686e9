/** Owns the history that a model request sends: one incremental fold of the model-visible events. */
import type { HistoryState } from './checkpoint.ts'
import { noResultText, summaryText } from './prompt.ts'
import type { AssistantPart, KnownEvent, Message, SessionEvent, SessionEventMap, ToolCallPart } from './types.ts'

/** Calls of one assistant message that are not all answered yet. */
interface Batch {
  /** Index of the assistant message. */
  readonly at: number
  readonly calls: readonly ToolCallPart[]
  readonly results: Map<string, Message>
  /** Messages that arrived meanwhile and follow the last result. */
  readonly held: Message[]
}

const OPEN = Number.POSITIVE_INFINITY

/** Grows by the size of each event. Every call is answered once, right after its assistant message, in request order. */
export class History {
  private list: Message[] = []
  /** For each message the event that completed its batch: what a compaction up to there may replace. */
  private ends: number[] = []
  private batch: Batch | undefined
  /** Messages that stand for a result which the log did not hold in time, by call id. */
  private readonly missing = new Map<string, Message>()

  /** A live view: it grows, and is another array after a compaction. Complete when no call is open. */
  get messages(): readonly Message[] {
    return this.list
  }

  /** State for a checkpoint; `undefined` while a call is open. */
  snapshot(): HistoryState | undefined {
    if (this.batch) return undefined
    const missing = [...this.missing].map(([callId, message]) => [callId, this.list.lastIndexOf(message)] as const)
    return { messages: this.list.slice(), ends: this.ends.slice(), missing: missing.filter(([, at]) => at >= 0) }
  }

  static from(state: HistoryState): History {
    const history = new History()
    history.list = [...state.messages]
    history.ends = [...state.ends]
    for (const [callId, at] of state.missing) history.missing.set(callId, history.list[at] as Message)
    return history
  }

  push(event: SessionEvent): void {
    const known = event as KnownEvent
    if (known.type === 'user/message') this.user(known.data, known.seq)
    else if (known.type === 'assistant/message') this.assistant(known.data, known.seq)
    else if (known.type === 'tool/result') this.result(known.data, known.seq)
    else if (known.type === 'compaction/done') this.compact(known.data)
  }

  private add(message: Message, end: number): void {
    this.list.push(message)
    this.ends.push(end)
  }

  private user(data: Readonly<SessionEventMap['user/message']>, seq: number): void {
    const message: Message = Object.freeze({ role: 'user', content: data.content })
    if (this.batch) this.batch.held.push(message)
    else this.add(message, seq)
  }

  private assistant(data: Readonly<SessionEventMap['assistant/message']>, seq: number): void {
    if (this.batch) this.close(this.batch, seq)
    const content = sendable(data.content)
    const calls = content.filter((part) => part.type === 'tool-call')
    // Providers refuse a message that says nothing.
    if (calls.length === 0 && !content.some((part) => part.type === 'text' && part.text.trim() !== '')) return
    this.add(Object.freeze({ role: 'assistant', content }), calls.length === 0 ? seq : OPEN)
    if (calls.length > 0) this.batch = { at: this.list.length - 1, calls, results: new Map(), held: [] }
  }

  private result(data: Readonly<SessionEventMap['tool/result']>, seq: number): void {
    const { callId, tool, content } = data
    const isError = data.outcome.tag !== 'succeeded'
    const message: Message = Object.freeze({ role: 'tool', callId, tool, content, isError })
    const batch = this.batch
    if (batch?.calls.some((call) => call.id === callId)) {
      if (batch.results.has(callId)) return
      batch.results.set(callId, message)
      return this.settle(batch, seq)
    }
    const placeholder = this.missing.get(callId)
    if (!placeholder) return
    this.missing.delete(callId)
    const at = this.list.lastIndexOf(placeholder)
    if (at >= 0) this.list[at] = message
  }

  /** Moves results that are next in request order into the history; ends the batch with the last one. */
  private settle(batch: Batch, seq: number): void {
    for (let placed = this.list.length - batch.at - 1; placed < batch.calls.length; placed++) {
      const next = batch.results.get((batch.calls[placed] as ToolCallPart).id)
      if (!next) return
      this.add(next, OPEN)
    }
    this.end(batch, seq)
  }

  /** The model went on although results are missing: their places are kept. */
  private close(batch: Batch, seq: number): void {
    for (const call of batch.calls) {
      if (batch.results.has(call.id)) continue
      const placeholder = missingResult(call)
      batch.results.set(call.id, placeholder)
      this.missing.set(call.id, placeholder)
    }
    this.settle(batch, seq)
  }

  private end(batch: Batch, seq: number): void {
    for (const message of batch.held) this.add(message, seq)
    this.ends.fill(seq, batch.at)
    this.batch = undefined
  }

  /** Replaces the whole batches and messages up to the event; one that is still open then stays. */
  private compact(data: Readonly<SessionEventMap['compaction/done']>): void {
    let cut = this.ends.findIndex((end) => end > data.upTo)
    if (cut < 0) cut = this.list.length
    if (cut === 0) return
    const summary: Message = Object.freeze({
      role: 'user',
      content: Object.freeze([Object.freeze({ type: 'text', text: summaryText(data.summary) } as const)]),
    })
    this.list = [summary, ...this.list.slice(cut)]
    this.ends = [data.upTo, ...this.ends.slice(cut)]
    if (this.batch) this.batch = { ...this.batch, at: this.batch.at - cut + 1 }
  }
}

function missingResult(call: ToolCallPart): Message {
  const content = Object.freeze([Object.freeze({ type: 'text', text: noResultText } as const)])
  return Object.freeze({ role: 'tool', callId: call.id, tool: call.name, content, isError: true })
}

/** Arguments that are no JSON object go out as `{}`, empty texts not at all; the event keeps them. */
function sendable(content: readonly AssistantPart[]): readonly AssistantPart[] {
  if (content.every((part) => (part.type === 'tool-call' ? isObjectText(part.argumentsText) : part.text !== ''))) {
    return content
  }
  const parts = content.filter((part) => part.type === 'tool-call' || part.text !== '')
  const sent = parts.map((part) => {
    if (part.type !== 'tool-call' || isObjectText(part.argumentsText)) return part
    return Object.freeze({ ...part, argumentsText: '{}' })
  })
  return Object.freeze(sent)
}

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** The history of a whole log. {@link History} does the same event by event. */
export function deriveMessages(events: Iterable<SessionEvent>): readonly Message[] {
  const history = new History()
  for (const event of events) history.push(event)
  return history.messages
}
