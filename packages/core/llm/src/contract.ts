/** Owns the cases that every model adapter must pass, whatever endpoint it talks to. */
import type { ModelAdapter, ModelRequest, StreamPart } from './types.ts'
import { assert, isSluiceError } from '@sluice/base'

/** What the endpoint behind the adapter does with the next request. */
export type EndpointScript =
  /** Answers with these parts and ends properly. */
  | { readonly kind: 'answer'; readonly parts: readonly StreamPart[] }
  /** Answers with these parts, then ends without saying why. */
  | { readonly kind: 'no-end'; readonly parts: readonly StreamPart[] }
  /** Answers with these parts, then the connection breaks. */
  | { readonly kind: 'break'; readonly parts: readonly StreamPart[] }
  /** Answers with these parts, then sends nothing more and stays open. */
  | { readonly kind: 'silence'; readonly parts: readonly StreamPart[] }
  /** Refuses with this HTTP status, every time. */
  | { readonly kind: 'refuse'; readonly status: number; readonly message: string }

/** An implementer's endpoint and adapter, made fresh for each case. */
export interface AdapterSubject {
  readonly adapter: ModelAdapter
  readonly model: string
  /** Resolves when the endpoint sees that the connection of its request is gone. */
  readonly hungUp: Promise<void>
}

export interface AdapterCase {
  readonly title: string
  readonly script: EndpointScript
  run(subject: AdapterSubject): Promise<void>
}

const answer: readonly StreamPart[] = [
  { type: 'text', text: 'Looking. ' },
  { type: 'text', text: 'Found “≤ 😀”.' },
]
const calls: readonly StreamPart[] = [
  { type: 'tool-call', id: 'c1', name: 'read', argumentsText: '{"path":"a"}' },
  { type: 'tool-call', id: 'c2', name: 'read', argumentsText: '{"path":"b"}' },
]

export const adapterCases: readonly AdapterCase[] = [
  {
    title: 'text arrives in order and the stream ends with one finish',
    script: { kind: 'answer', parts: [...answer, { type: 'finish', reason: 'stop' }] },
    async run({ adapter, model }) {
      const parts = await collect(adapter.stream(request(model)))
      assert(textOf(parts) === 'Looking. Found “≤ 😀”.', `the text was ${JSON.stringify(textOf(parts))}`)
      assert(endsOnceWith(parts, 'stop'), `the parts were ${show(parts)}`)
    },
  },
  {
    title: 'tool calls arrive whole, in order, with their ids',
    script: { kind: 'answer', parts: [...calls, { type: 'finish', reason: 'tool-calls' }] },
    async run({ adapter, model }) {
      const parts = await collect(adapter.stream(request(model)))
      const got = parts.filter((part) => part.type === 'tool-call')
      assert(JSON.stringify(got) === JSON.stringify(calls), `the calls were ${show(got)}`)
      assert(endsOnceWith(parts, 'tool-calls'), `the parts were ${show(parts)}`)
    },
  },
  {
    title: 'a stream that ends without saying why is incomplete',
    script: { kind: 'no-end', parts: answer },
    async run({ adapter, model }) {
      const parts = await collect(adapter.stream(request(model)))
      const finish = parts.find((part) => part.type === 'finish')
      assert(finish === undefined || finish.reason === 'incomplete', `the finish was ${show([finish])}`)
    },
  },
  {
    title: 'a connection that breaks gives what was received, then LLM_BROKEN',
    script: { kind: 'break', parts: answer },
    async run({ adapter, model }) {
      const parts: StreamPart[] = []
      const failure = await failureOf(collect(adapter.stream(request(model)), parts))
      assert(isSluiceError(failure, 'LLM_BROKEN'), `it failed with ${String(failure)}`)
      assert(textOf(parts) === 'Looking. Found “≤ 😀”.', `the text was ${JSON.stringify(textOf(parts))}`)
    },
  },
  {
    title: 'a refusal rejects with LLM_REFUSED, its status and its message',
    script: { kind: 'refuse', status: 401, message: 'who are you?' },
    async run({ adapter, model }) {
      const failure = await failureOf(collect(adapter.stream(request(model))))
      assert(isSluiceError(failure, 'LLM_REFUSED'), `it failed with ${String(failure)}`)
      assert(failure.message.includes('401'), failure.message)
      assert(failure.message.includes('who are you?'), failure.message)
    },
  },
  {
    title: 'an abort ends the stream and hangs up',
    script: { kind: 'silence', parts: answer },
    async run({ adapter, model, hungUp }) {
      const controller = new AbortController()
      const settled = collectUntilEnd(adapter.stream(request(model, controller.signal)), () => controller.abort())
      await settled
      await hungUp
    },
  },
  {
    title: 'a reader that stops early hangs up',
    script: { kind: 'silence', parts: answer },
    async run({ adapter, model, hungUp }) {
      for await (const part of adapter.stream(request(model))) if (part.type === 'text') break
      await hungUp
    },
  },
]

function request(model: string, signal: AbortSignal = new AbortController().signal): ModelRequest {
  return {
    model,
    system: 'Be brief.',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Where is it?' }] }],
    tools: [{ name: 'read', description: 'Reads a file.', parameters: { type: 'object', properties: {} } }],
    signal,
  }
}

async function collect(stream: AsyncIterable<StreamPart>, into: StreamPart[] = []): Promise<StreamPart[]> {
  for await (const part of stream) into.push(part)
  return into
}

/** An aborted adapter may reject or end; both settle. */
async function collectUntilEnd(stream: AsyncIterable<StreamPart>, onText: () => void): Promise<void> {
  try {
    for await (const part of stream) if (part.type === 'text') onText()
  } catch {
    return
  }
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  return undefined
}

const textOf = (parts: readonly StreamPart[]) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
const show = (parts: readonly unknown[]) => JSON.stringify(parts)
const endsOnceWith = (parts: readonly StreamPart[], reason: string) => {
  const finishes = parts.filter((part) => part.type === 'finish')
  const last = parts.at(-1)
  return finishes.length === 1 && last?.type === 'finish' && last.reason === reason
}
