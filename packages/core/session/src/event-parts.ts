/** Owns the schemas that several events of the core vocabulary are made of. */
import type { Json, JsonObject } from '@sluice/base'
import { Type } from 'typebox'

export const closed = { additionalProperties: false } as const
export const count = Type.Integer({ minimum: 0 })
export const text = Type.String()
export const optionalText = Type.Optional(text)

export const blob = Type.Object({ digest: Type.String({ pattern: '^[0-9a-f]{64}$' }), size: count }, closed)
const textPart = Type.Object({ type: Type.Literal('text'), text }, closed)
const contentPart = Type.Union([textPart, Type.Object({ type: Type.Literal('image'), mediaType: text, blob }, closed)])
export const content = Type.Array(contentPart)
export const assistantPart = Type.Union([
  textPart,
  Type.Object({ type: Type.Literal('reasoning'), text }, closed),
  Type.Object({ type: Type.Literal('tool-call'), id: text, name: text, argumentsText: text }, closed),
])

export const v1 = Type.Literal(1)
export const card = Type.Union([
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

export const object = Type.Unsafe<JsonObject>(Type.Object({}, { additionalProperties: true }))
export const toolCall = Type.Object(
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
export const toolResult = Type.Object(
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
export const ask = Type.Object(
  {
    by: text,
    reason: text,
    rule: optionalText,
    offers: Type.Optional(Type.Array(Type.Object({ id: text, text }, closed))),
  },
  closed,
)
export const hook = Type.Object({ file: text, event: text, index: count }, closed)
export const usage = Type.Object(
  { inputTokens: Type.Optional(count), outputTokens: Type.Optional(count), cachedInputTokens: Type.Optional(count) },
  closed,
)
