/** Owns the core vocabulary of a session log: each event type with schema, version and meaning. */
import type { Json, JsonObject } from '@sluice/base'
import { Type } from 'typebox'
import type { EventTable } from './types.ts'

const closed = { additionalProperties: false } as const
const count = Type.Integer({ minimum: 0 })
const text = Type.String()
const optionalText = Type.Optional(text)

const blob = Type.Object({ digest: Type.String({ pattern: '^[0-9a-f]{64}$' }), size: count }, closed)
const textPart = Type.Object({ type: Type.Literal('text'), text }, closed)
const contentPart = Type.Union([textPart, Type.Object({ type: Type.Literal('image'), mediaType: text, blob }, closed)])
const content = Type.Array(contentPart)
const assistantPart = Type.Union([
  textPart,
  Type.Object({ type: Type.Literal('reasoning'), text }, closed),
  Type.Object({ type: Type.Literal('tool-call'), id: text, name: text, argumentsText: text }, closed),
])

const v1 = Type.Literal(1)
const card = Type.Union([
  Type.Object({ v: v1, kind: Type.Literal('generic'), title: text, text: optionalText }, closed),
  Type.Object(
    {
      v: v1,
      kind: Type.Literal('terminal'),
      title: text,
      command: text,
      output: optionalText,
      exitCode: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    },
    closed,
  ),
  Type.Object({ v: v1, kind: Type.Literal('diff'), title: text, path: text, diff: text }, closed),
  Type.Object(
    { v: v1, kind: Type.Literal('search'), title: text, query: text, hits: Type.Optional(count), text: optionalText },
    closed,
  ),
  Type.Object({ v: v1, kind: Type.Literal('read'), title: text, path: text, lines: optionalText }, closed),
  Type.Object({ v: v1, kind: Type.Literal('web'), title: text, url: text }, closed),
  Type.Object(
    {
      v: v1,
      kind: Type.Literal('todo'),
      title: text,
      items: Type.Array(
        Type.Object(
          { text, status: Type.Union([Type.Literal('pending'), Type.Literal('doing'), Type.Literal('done')]) },
          closed,
        ),
      ),
    },
    closed,
  ),
])

const executed = Type.Union([Type.Literal('yes'), Type.Literal('no'), Type.Literal('unknown')])
const notExecuted = Type.Literal('no')
const outcome = Type.Union([
  Type.Object({ tag: Type.Literal('succeeded'), executed, late: Type.Optional(Type.Literal(true)) }, closed),
  Type.Object({ tag: Type.Literal('failed'), executed, code: text, message: text, by: optionalText }, closed),
  Type.Object(
    {
      tag: Type.Literal('denied'),
      executed: notExecuted,
      stage: text,
      by: text,
      reason: text,
      code: optionalText,
      rule: optionalText,
    },
    closed,
  ),
  Type.Object({ tag: Type.Literal('aborted'), executed, reason: text }, closed),
  Type.Object({ tag: Type.Literal('timed-out'), executed, reason: text, by: optionalText }, closed),
  Type.Object(
    {
      tag: Type.Literal('invalid'),
      executed: notExecuted,
      problems: Type.Array(Type.Object({ path: text, problem: text }, closed)),
      by: optionalText,
    },
    closed,
  ),
  Type.Object({ tag: Type.Literal('unknown-tool'), executed: notExecuted, nearest: Type.Array(text) }, closed),
  Type.Object({ tag: Type.Literal('interrupted'), executed }, closed),
])

const object = Type.Unsafe<JsonObject>(Type.Object({}, { additionalProperties: true }))
const toolCall = Type.Object(
  {
    callId: text,
    tool: text,
    argumentsText: text,
    arguments: Type.Optional(object),
    readOnly: Type.Boolean(),
    card,
    batch: count,
    index: count,
    originalId: optionalText,
    repairs: Type.Optional(Type.Array(text)),
  },
  closed,
)
const toolResult = Type.Object(
  {
    callId: text,
    tool: text,
    outcome,
    content,
    value: Type.Optional(Type.Unsafe<Json>(Type.Unknown())),
    valueBlob: Type.Optional(Type.Object({ blob, preview: text }, closed)),
    card,
    contexts: Type.Optional(Type.Array(text)),
    trace: optionalText,
    durationMs: Type.Optional(Type.Number({ minimum: 0 })),
    queuedMs: Type.Optional(Type.Number({ minimum: 0 })),
  },
  closed,
)
const ask = Type.Object(
  {
    by: text,
    reason: text,
    rule: optionalText,
    offers: Type.Optional(Type.Array(Type.Object({ id: text, text }, closed))),
  },
  closed,
)
const usage = Type.Object(
  { inputTokens: Type.Optional(count), outputTokens: Type.Optional(count), cachedInputTokens: Type.Optional(count) },
  closed,
)

function oneOf<T extends string[]>(...values: [...T]) {
  return Type.Enum(values)
}

export const sessionEvents = {
  'session/started': {
    version: 1,
    meaning: 'The first event: who this session is and where it came from.',
    schema: Type.Object(
      {
        format: v1,
        id: text,
        cwd: text,
        parent: Type.Optional(Type.Object({ id: text, seq: count }, closed)),
        composition: optionalText,
      },
      closed,
    ),
  },
  'session/resumed': {
    version: 1,
    meaning: 'A process opened the session for writing again.',
    schema: Type.Object({ pid: count, host: text, ended: Type.Optional(count) }, closed),
  },
  'session/repaired': {
    version: 1,
    meaning: 'Work that the last writer left unfinished was closed by the events before this one.',
    schema: Type.Object({ interrupted: Type.Array(text), closed: count }, closed),
  },
  'session/lost': {
    version: 1,
    meaning: 'Stands in the place of an event that a damaged log did not hold any more.',
    schema: Type.Object({ detail: text }, closed),
  },
  'turn/started': { version: 1, meaning: 'A turn began.', schema: Type.Object({ turn: count }, closed) },
  'turn/ended': {
    version: 1,
    meaning: 'A turn ended, and why.',
    schema: Type.Object(
      {
        turn: count,
        reason: oneOf('completed', 'aborted', 'blocked', 'error', 'length', 'budget', 'interrupted'),
        detail: optionalText,
        code: optionalText,
      },
      closed,
    ),
  },
  'step/started': {
    version: 1,
    meaning: 'A step began: one model request and its calls.',
    schema: Type.Object({ turn: count, step: count }, closed),
  },
  'step/ended': {
    version: 1,
    meaning: 'A step ended: nothing of it is owed any more.',
    schema: Type.Object({ turn: count, step: count }, closed),
  },
  'user/message': {
    version: 1,
    modelVisible: true,
    meaning: 'Something the model is told: by a person, or injected by a plugin named in source.',
    schema: Type.Object({ content, source: text }, closed),
  },
  'assistant/message': {
    version: 1,
    modelVisible: true,
    meaning: 'A message of the model, finished or interrupted.',
    schema: Type.Object(
      {
        content: Type.Array(assistantPart),
        finish: oneOf('stop', 'tool-calls', 'length', 'filter', 'error', 'aborted', 'incomplete'),
        model: text,
        usage: Type.Optional(usage),
        interrupted: optionalText,
        originalIds: Type.Optional(Type.Record(Type.String(), text)),
      },
      closed,
    ),
  },
  'request/changed': {
    version: 1,
    meaning: 'From here on requests use this model, system prompt and tool list; the bodies are blobs.',
    schema: Type.Object({ model: text, system: blob, tools: blob, toolNames: Type.Array(text) }, closed),
  },
  'tool/call': { version: 1, meaning: 'A call was taken up, admitted or not.', schema: toolCall },
  'tool/rewritten': {
    version: 1,
    meaning: 'A plugin changed the arguments of a call.',
    schema: Type.Object({ callId: text, by: text, before: object, after: object, card }, closed),
  },
  'tool/started': {
    version: 1,
    meaning: 'The body of a call may have begun to act.',
    schema: Type.Object({ callId: text, attempt: count }, closed),
  },
  'tool/result': { version: 1, modelVisible: true, meaning: 'The one outcome of a call.', schema: toolResult },
  'tool/code-dispatch': {
    version: 1,
    meaning: 'A call made by the body of another call was taken up or settled.',
    schema: Type.Object(
      {
        callId: text,
        parent: text,
        phase: oneOf('start', 'settle'),
        call: Type.Optional(toolCall),
        result: Type.Optional(toolResult),
      },
      closed,
    ),
  },
  'approval/asked': {
    version: 1,
    meaning: 'A question about a call was put.',
    schema: Type.Object({ callId: text, question: text, asks: Type.Array(ask), card }, closed),
  },
  'approval/decided': {
    version: 1,
    meaning: 'The one answer to a question about a call.',
    schema: Type.Object(
      {
        callId: text,
        decision: oneOf('allowed-once', 'rejected', 'cancelled', 'unavailable'),
        by: text,
        message: optionalText,
        offer: optionalText,
      },
      closed,
    ),
  },
  'compaction/done': {
    version: 1,
    modelVisible: true,
    meaning: 'The model reads this summary in place of everything up to an event.',
    schema: Type.Object({ upTo: count, summary: text }, closed),
  },
  'blob/stored': {
    version: 1,
    meaning: 'Bytes were stored beside the log under their digest.',
    schema: Type.Object({ blob, mediaType: text, name: optionalText }, closed),
  },
} as const satisfies EventTable
