/** Owns post-execute: listeners accept, replace or block, each once, each on the newest result. */
import { type Json, messageOf } from '@sluice/base'
import type { ContentPart } from '@sluice/session'
import { ask, type OwnTime, underGrace } from './asking.ts'
import { checkedValue } from './attempt.ts'
import { fromAttempt, plainContent, resultOf } from './candidate.ts'
import { contentOf, render, textContent } from './content.ts'
import type { Registered } from './definition.ts'
import { toolsErrors } from './errors.ts'
import { failureOf, type StageFailure } from './failure.ts'
import type { Listener } from './listeners.ts'
import type { Asked, CallState } from './state.ts'
import type { CallOutcome } from './table.ts'
import type { Call, PassedOn } from './types.ts'

const event = 'tools/post-execute'
type Post = CallOutcome<'post-execute'>
const rank = { accept: 0, replace: 1, block: 2 } as const

export function postExecute(state: CallState): Post | Promise<Post> {
  fromAttempt(state)
  const listeners = state.machine.listeners.of(event, state.start.agent)
  return listeners.length === 0 ? 'accept' : review(state, listeners)
}

async function review(state: CallState, listeners: readonly Listener[]): Promise<Post> {
  const reviewing = new Reviewing(state, listeners)
  try {
    await underGrace(state, 1, reviewing.from(0), () => reviewing.current)
  } finally {
    reviewing.over = true
    state.noteUnasked(listeners, reviewing.reached)
  }
  if (reviewing.failure) throw reviewing.failure
  return reviewing.outcome
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

class Reviewing {
  outcome: Post = 'accept'
  failure: StageFailure | undefined
  current = event
  reached = 0
  private readonly asked: Asked[] = []
  /** Set when the stage has been left: late answers change nothing. */
  over = false
  private readonly state: CallState
  private readonly listeners: readonly Listener[]
  private readonly tails: (Promise<void> | undefined)[] = []

  constructor(state: CallState, listeners: readonly Listener[]) {
    this.state = state
    this.listeners = listeners
    state.detail.asked = this.asked
  }

  from(index: number): Promise<void> {
    return (this.tails[index] ??= this.reviewFrom(index))
  }

  private async reviewFrom(index: number): Promise<void> {
    const listener = this.listeners[index]
    if (!listener || this.failure || this.over) return
    const { state } = this
    const { asked } = this
    this.reached = index + 1
    const slot = asked.push(listener.plugin) - 1
    this.current = listener.plugin
    let passed: PassedOn | undefined
    let own: OwnTime | undefined
    try {
      const said = await ask(state, event, listener, { divert: false }, (time) => {
        own = time
        return listener.call(state.call as Call, resultOf(state), async () => {
          await time.outside(this.from(index + 1))
          passed = Object.freeze({ kind: 'accept', result: resultOf(state) })
          return passed
        })
      })
      if (this.over || this.failure) return
      if (said !== passed || passed === undefined) {
        const answer = decode(said)
        if (answer.kind !== 'accept' || answer.contexts.length > 0 || answer.endTurn)
          asked[slot] = { plugin: listener.plugin, said: answer.kind, ms: own?.ms ?? 0 }
        this.apply(answer, listener)
      }
      await this.from(index + 1)
    } catch (error) {
      this.failure ??= failureOf(error, listener.plugin)
      asked[slot] = {
        plugin: listener.plugin,
        said: 'threw',
        reason: messageOf(error),
        ms: own?.ms ?? 0,
      }
    }
  }

  private apply(answer: Answer, listener: Listener): void {
    const { state } = this
    if (rank[answer.kind] > rank[this.outcome]) this.outcome = answer.kind
    if (answer.contexts.length > 0) state.contexts = [...state.contexts, ...answer.contexts]
    if (answer.endTurn) state.endTurn = true
    if (answer.kind === 'block') block(state, answer.reason, listener)
    if (answer.kind !== 'replace') return
    if (answer.value !== undefined) {
      if (state.outcome?.tag !== 'succeeded') throw bad('only a succeeded result can have a new value')
      const checked = checkedValue(state.entry as Registered, answer.value)
      if ('code' in checked) throw bad(checked.message)
      state.value = checked.value
      state.content = answer.content ?? render(state.entry as Registered, checked.value, state.args)
    } else if (answer.content) {
      state.content = answer.content
      if (!answer.keepValue) state.value = undefined
    }
  }
}

/** `succeeded` becomes `failed` for good; on other tags only the content changes. */
function block(state: CallState, reason: string, listener: Listener): void {
  if (state.outcome?.tag === 'succeeded') {
    const { code, message } = toolsErrors('TOOLS_BLOCKED', { reason })
    state.outcome = { tag: 'failed', executed: state.outcome.executed, code, message, by: listener.plugin }
    state.value = undefined
    state.content = plainContent(state, state.outcome)
  } else state.content = textContent(reason)
}

function bad(problem: string) {
  return toolsErrors('TOOLS_BAD_ANSWER', { event, problem })
}

/** Each field read once.
 *  @throws TOOLS_BAD_ANSWER */
function decode(said: unknown): Answer {
  if (said === null || typeof said !== 'object') throw bad(`${typeof said} is no answer; return next() to accept`)
  const { kind, content, value, keepValue, reason, contexts, endTurn } = said as Record<string, unknown>
  if (kind !== 'accept' && kind !== 'replace' && kind !== 'block') throw bad(`${String(kind)} is no answer`)
  if (kind === 'block' && (typeof reason !== 'string' || reason === '')) throw bad('a block without a reason')
  if (kind === 'replace' && content === undefined && value === undefined)
    throw bad('a replace without content or value')
  const texts = contexts === undefined ? [] : contexts
  if (!Array.isArray(texts) || !texts.every((text): text is string => typeof text === 'string'))
    throw bad('contexts are no list of texts')
  return {
    kind,
    content: content === undefined ? undefined : contentOf(content),
    value: value as Json | undefined,
    keepValue: keepValue === true,
    reason: typeof reason === 'string' ? reason.toWellFormed() : '',
    contexts: texts.map((text) => text.toWellFormed()),
    endTurn: endTurn === true,
  }
}
