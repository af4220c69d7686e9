/** Owns the post-execute stage: listeners accept, replace or block, each once, each on the newest result. */
import { type Json, textOf } from '@sluice/base'
import { type Listener, type Limit, Round } from '@sluice/listeners'
import type { ContentPart } from '@sluice/session'
import { checkedValue } from './attempt.ts'
import { contentOf, render, textContent } from './content.ts'
import { toolsErrors } from './errors.ts'
import { resultOf, setOutcome, type ToolResult } from './outcome.ts'
import type { EndedCall } from './state.ts'
import type { CallAnswer, CallOutcome } from './table.ts'

interface Extras {
  readonly contexts?: readonly string[]
  readonly endTurn?: true
}
export interface AcceptVerdict extends Extras {
  readonly kind: 'accept'
}
export interface ReplaceVerdict extends Extras {
  readonly kind: 'replace'
  readonly content?: string | readonly ContentPart[]
  /** Only on `succeeded`: validated and rendered again. */
  readonly value?: Json
  /** With `content` alone: the value stays as it is. */
  readonly keepValue?: true
}
export interface BlockVerdict extends Extras {
  readonly kind: 'block'
  readonly reason: string
}
interface PostShapes {
  readonly accept: AcceptVerdict
  readonly replace: ReplaceVerdict
  readonly block: BlockVerdict
}
/** What a listener of `tools/post-execute` may say: an answer of the stage's row. */
export type PostVerdict = PostShapes[CallAnswer<'post-execute'>]

/** What `next()` of `tools/post-execute` gives: acceptance, with the result that the later listeners left. */
export interface PassedOn extends AcceptVerdict {
  readonly result: ToolResult
}

const event = 'tools/post-execute'
type Post = CallOutcome<'post-execute'>
const rank: Record<Post, number> = { accept: 0, replace: 1, block: 2 }

export function postExecute(state: EndedCall): Post | Promise<Post> {
  const listeners = state.listenersOf(event)
  if (listeners.length === 0) return 'accept'
  const review = new Review(state, listeners)
  return review.settled(() => reviewed(review))
}

function reviewed(review: Review): Post {
  review.state.noteUnasked(review.listeners, review.asked.length)
  if (review.failure) throw review.failure
  return review.outcome
}

/** An answer that waits for those of the later listeners. */
interface Kept extends PassedOn {
  readonly answer: Answer
  readonly plugin: string
}

class Review extends Round<PassedOn | Kept> {
  outcome: Post = 'accept'
  readonly state: EndedCall
  /** Made once for each state of the result. */
  private newest: PassedOn | undefined

  constructor(state: EndedCall, listeners: readonly Listener[]) {
    super(listeners, state.machine.limits, state.start.source, state.machine.config.graceMs)
    this.state = state
    state.detail.asked = this.asked
  }

  protected call(listener: Listener, next: () => PassedOn | Kept | Promise<PassedOn | Kept>): unknown {
    return listener.call(this.state.call, this.nothing().result, next)
  }

  protected nothing(): PassedOn {
    const result = resultOf(this.state)
    return this.newest?.result === result ? this.newest : (this.newest = Object.freeze({ kind: 'accept', result }))
  }

  /** An answer given while later ones run applies to what they left. */
  protected join(own: PassedOn | Kept): PassedOn {
    if ('answer' in own) this.apply(own.answer, own.plugin)
    return this.nothing()
  }

  protected failed(): PassedOn {
    return this.nothing()
  }

  protected take(said: unknown, { plugin }: Listener, slot: number, own: Limit): PassedOn | Kept {
    if (this.over) return this.nothing()
    const answer = decode(said)
    const { kind, contexts, endTurn } = answer
    if (kind === 'accept' && contexts.length === 0 && !endTurn) return this.nothing()
    this.asked[slot] = { plugin, said: kind, ms: own.spentMs }
    const isAroundOthers = this.asked.length > slot + 1
    if (isAroundOthers) return { ...this.nothing(), answer, plugin }
    this.apply(answer, plugin)
    return this.nothing()
  }

  private apply(answer: Answer, plugin: string): void {
    if (this.over) return
    const { state } = this
    const { kind, contexts, endTurn } = answer
    if (rank[kind] > rank[this.outcome]) this.outcome = kind
    state.contexts = Object.freeze([...state.contexts, ...contexts])
    if (endTurn) state.endTurn = true
    if (kind === 'block') block(state, answer.reason, plugin)
    if (kind === 'replace') replace(state, answer)
  }
}

function replace(state: EndedCall, { content, value, keepValue }: Answer): void {
  if (value !== undefined) {
    if (state.outcome.tag !== 'succeeded') throw bad('only a succeeded result can have a new value')
    const checked = checkedValue(state.entry, value)
    if ('code' in checked) throw bad(checked.message)
    state.value = checked.value
    state.content = content ?? render(state.entry, checked.value, state.call.args)
  } else if (content) {
    state.content = content
    if (!keepValue) state.value = undefined
  } else throw bad('a replace without content or value')
}

/** `succeeded` becomes `failed` for good; on other tags only the content changes. */
function block(state: EndedCall, reason: string, by: string): void {
  const { tag, executed } = state.outcome
  if (tag !== 'succeeded') return void (state.content = textContent(reason))
  const { code, message } = toolsErrors('TOOLS_BLOCKED', { reason })
  state.value = undefined
  setOutcome(state, { tag: 'failed', executed, code, message, by })
}

interface Answer {
  readonly kind: Post
  readonly content: readonly ContentPart[] | undefined
  readonly value: Json | undefined
  readonly keepValue: boolean
  readonly reason: string
  readonly contexts: readonly string[]
  readonly endTurn: boolean
}

function bad(problem: string) {
  return toolsErrors('TOOLS_BAD_ANSWER', { event, problem })
}

/** Each field read once.
 *  @throws TOOLS_BAD_ANSWER */
function decode(said: unknown): Answer {
  if (said === null || typeof said !== 'object') throw bad(`${typeof said} is no answer; return next() to accept`)
  const { kind, content, value, keepValue, reason, contexts = [], endTurn } = said as Record<string, unknown>
  if (kind !== 'accept' && kind !== 'replace' && kind !== 'block') throw bad(`${String(kind)} is no answer`)
  const why = textOf(reason)
  if (kind === 'block' && why === undefined) throw bad('a block without a reason')
  if (!Array.isArray(contexts) || !contexts.every((text): text is string => typeof text === 'string'))
    throw bad('contexts are no list of texts')
  return {
    kind,
    content: content === undefined ? undefined : contentOf(content),
    value: value as Json | undefined,
    keepValue: keepValue === true,
    reason: why ?? '',
    contexts: contexts.map((text) => text.toWellFormed()),
    endTurn: endTurn === true,
  }
}
