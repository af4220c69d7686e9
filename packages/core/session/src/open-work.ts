/** Owns what a log has begun and not ended: calls, nested calls, questions, hooks, contexts, steps, turns, processes. */
import { foldSteps } from './fold.ts'
import type { Fold, HookId, TextPart, UserMessage } from './types.ts'

export interface OpenCall {
  readonly callId: string
  readonly tool: string
  /** Id of the outer call; absent for a call of the model. */
  readonly parent?: string
  /** False while only the assistant message speaks of it. */
  readonly taken: boolean
  readonly readOnly: boolean
  readonly started: boolean
  /** The event that brought it up. */
  readonly seq: number
}

/** A context that a result carries and that has not been told to the model. */
export interface OwedContext {
  /** The result that carries it. */
  readonly seq: number
  /** Place of the call in its message; contexts are told in request order. */
  readonly index: number
  readonly text: string
}

export interface OpenWork {
  /** Of the model, in request order. */
  readonly calls: readonly OpenCall[]
  /** Of bodies, in the order they were taken up. */
  readonly nested: readonly OpenCall[]
  readonly questions: readonly { readonly callId: string; readonly seq: number }[]
  /** By the event that started them: the same hook may run several times at once. */
  readonly hooks: readonly { readonly hook: HookId; readonly seq: number }[]
  readonly contexts: readonly OwedContext[]
  readonly steps: readonly { readonly turn: number; readonly step: number; readonly seq: number }[]
  readonly turns: readonly { readonly turn: number; readonly seq: number }[]
  /** Call ids of the last assistant message. */
  readonly batch: readonly string[]
  /** Calls were taken up, or hooks started, since a host has looked for processes of an earlier one: some may still run. */
  readonly processes: boolean
}

const nothing: OpenWork = {
  calls: [],
  nested: [],
  questions: [],
  hooks: [],
  contexts: [],
  steps: [],
  turns: [],
  batch: [],
  processes: false,
}

const step = foldSteps<OpenWork>({
  'session/resumed': (work) => ({ ...work, processes: false }),
  'turn/started': (work, { data, seq }) => ({ ...work, turns: [...work.turns, { turn: data.turn, seq }] }),
  'turn/ended': (work, { data }) => ({ ...work, turns: work.turns.filter((open) => open.turn !== data.turn) }),
  'step/started': (work, { data, seq }) => ({ ...work, steps: [...work.steps, { ...data, seq }] }),
  'step/ended': (work, { data }) => ({
    ...work,
    steps: work.steps.filter((open) => open.turn !== data.turn || open.step !== data.step),
  }),
  'approval/asked': (work, { data, seq }) => ({
    ...work,
    questions: [...work.questions, { callId: data.callId, seq }],
  }),
  'approval/decided': (work, { data }) => ({ ...work, questions: without(work.questions, data.callId) }),
  'hook/invoked': (work, { data: { hook }, seq }) => ({
    ...work,
    processes: true,
    hooks: [...work.hooks, { hook, seq }],
  }),
  'hook/result': (work, { cause }) => ({ ...work, hooks: work.hooks.filter(({ seq }) => seq !== cause) }),
  'user/message': (work, { data }) => (work.contexts.length === 0 ? work : told(work, data)),
  'assistant/message': (work, { data, seq }) => {
    const calls = data.content.filter((part) => part.type === 'tool-call')
    // The model has gone on: what was not told by now would come too late.
    const next = work.contexts.length === 0 ? work : { ...work, contexts: [] }
    if (calls.length === 0) return next
    const opened = calls.map((call) => opening(call.id, call.name, seq))
    return { ...next, batch: calls.map((call) => call.id), calls: [...work.calls, ...opened] }
  },
  'tool/call': (work, { data: { callId, tool, readOnly }, seq }) => {
    const taken = { taken: true, readOnly }
    if (work.calls.some((call) => call.callId === callId)) {
      return { ...work, processes: true, calls: changed(work.calls, callId, taken) }
    }
    return { ...work, processes: true, calls: [...work.calls, { ...opening(callId, tool, seq), ...taken }] }
  },
  'tool/started': (work, { data: { callId } }) => {
    const begun = { started: true }
    return { ...work, calls: changed(work.calls, callId, begun), nested: changed(work.nested, callId, begun) }
  },
  'tool/result': (work, { data: { callId, contexts }, seq }) => {
    const index = work.batch.indexOf(callId)
    const owed = (contexts ?? []).map((text) => ({ seq, index, text }))
    return { ...work, calls: without(work.calls, callId), contexts: [...work.contexts, ...owed] }
  },
  'tool/code-dispatch': (work, { data: { callId, parent, phase, call }, seq }) => {
    if (phase === 'settle') return { ...work, nested: without(work.nested, callId) }
    const readOnly = call?.readOnly ?? false
    const opened = { ...opening(callId, call?.tool ?? '', seq), parent, taken: true, readOnly }
    return { ...work, nested: [...work.nested, opened] }
  },
})

/** JSON throughout, so that a checkpoint can hold it; bounded by what is open. */
export const openWork: Fold<OpenWork> = { name: 'session/open-work', version: 3, initial: nothing, step }

/** Contexts of settled calls that the model has not been told, in the order to tell them. */
export function owedContexts(work: OpenWork): readonly OwedContext[] {
  return work.contexts.toSorted((a, b) => a.index - b.index || a.seq - b.seq)
}

function opening(callId: string, tool: string, seq: number): OpenCall {
  return { callId, tool, taken: false, readOnly: false, started: false, seq }
}

function without<T extends { readonly callId: string }>(list: readonly T[], callId: string): readonly T[] {
  return list.some((item) => item.callId === callId) ? list.filter((item) => item.callId !== callId) : list
}

function changed(list: readonly OpenCall[], callId: string, change: Partial<OpenCall>): readonly OpenCall[] {
  if (!list.some((call) => call.callId === callId)) return list
  return list.map((call) => (call.callId === callId ? { ...call, ...change } : call))
}

/** A message with exactly the text of an owed context tells it. */
function told(work: OpenWork, message: Pick<UserMessage, 'content'>): OpenWork {
  const [part, ...more] = message.content
  if (part?.type !== 'text' || more.length > 0) return work
  const at = owedContexts(work).find((owed) => owed.text === (part as TextPart).text)
  return at === undefined ? work : { ...work, contexts: work.contexts.filter((owed) => owed !== at) }
}
