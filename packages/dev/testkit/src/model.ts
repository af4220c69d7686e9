/** Owns the scripted model: a ModelAdapter whose answers a test writes down. */
import type { FinishReason, ModelAdapter, ModelRequest, StreamPart, Usage } from '@sluice/llm'
import { assertPaired } from './pairing.ts'

export interface ScriptedCall {
  readonly name: string
  /** Default `call_<request>_<index>`. */
  readonly id?: string
  /** Arguments as a value; or `argumentsText`, exactly as a model might write it. */
  readonly args?: unknown
  readonly argumentsText?: string
}

/** One answer of the model. Parts come in this order: reasoning, text, calls, finish. */
export interface ScriptedTurn {
  readonly reasoning?: string
  /** Several pieces for several stream parts. */
  readonly text?: string | readonly string[]
  readonly calls?: readonly ScriptedCall[]
  /** Default `tool-calls` with calls, else `stop`. */
  readonly finish?: FinishReason
  readonly usage?: Usage
  /** Thrown after the parts, instead of a finish. */
  readonly error?: unknown
  /** The stream ends after so many parts, without a finish. */
  readonly breakAfter?: number
  /** After the parts nothing comes until the request is aborted. */
  readonly hang?: true
}

export type ScriptedStep = ScriptedTurn | string | ((request: ModelRequest) => ScriptedTurn | string)

export interface ScriptedModel extends ModelAdapter {
  /** Every request, in order. */
  readonly requests: readonly ModelRequest[]
  readonly stepsLeft: number
  /** Throws what went wrong: a request beyond the script, a history that a strict provider refuses, steps not used. */
  verify(): void
}

/** A step that is a string is an answer of that text. */
export function scriptedModel(steps: readonly ScriptedStep[]): ScriptedModel {
  const requests: ModelRequest[] = []
  const problems: unknown[] = []
  const answer = (request: ModelRequest): ScriptedTurn => {
    const step = steps[requests.length]
    requests.push(request)
    try {
      assertPaired(request.messages)
      if (step === undefined)
        throw new Error(`the script has ${steps.length} steps, this is request ${requests.length}`)
      const turn = typeof step === 'function' ? step(request) : step
      return typeof turn === 'string' ? { text: turn } : turn
    } catch (error) {
      problems.push(error)
      throw error
    }
  }
  return {
    requests,
    get stepsLeft() {
      return Math.max(0, steps.length - requests.length)
    },
    stream: (request) =>
      play(
        () => answer(request),
        request.signal,
        () => requests.length,
      ),
    verify() {
      if (problems.length > 0) throw problems[0]
      if (requests.length < steps.length) throw new Error(`${steps.length - requests.length} steps were not used`)
    },
  }
}

function partsOf(turn: ScriptedTurn, number: number): StreamPart[] {
  const parts: StreamPart[] = []
  if (turn.reasoning !== undefined) parts.push({ type: 'reasoning', text: turn.reasoning })
  for (const text of turn.text === undefined ? [] : [turn.text].flat()) parts.push({ type: 'text', text })
  for (const [index, call] of (turn.calls ?? []).entries()) {
    const id = call.id ?? `call_${number}_${index + 1}`
    const argumentsText = call.argumentsText ?? JSON.stringify(call.args ?? {})
    parts.push({ type: 'tool-call-started', id, name: call.name })
    parts.push({ type: 'tool-call', id, name: call.name, argumentsText })
  }
  return parts
}

async function* play(
  next: () => ScriptedTurn,
  signal: AbortSignal,
  numberOf: () => number,
): AsyncGenerator<StreamPart, void, undefined> {
  signal.throwIfAborted()
  const turn = next()
  const parts = partsOf(turn, numberOf())
  for (const part of parts.slice(0, turn.breakAfter)) {
    await Promise.resolve()
    signal.throwIfAborted()
    yield part
  }
  if (turn.breakAfter !== undefined) return
  if (turn.hang) await aborted(signal)
  if (turn.error !== undefined) throw turn.error
  const reason = turn.finish ?? (turn.calls?.length ? 'tool-calls' : 'stop')
  yield { type: 'finish', reason, ...(turn.usage ? { usage: turn.usage } : {}) }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = () => reject(signal.reason as Error)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}
