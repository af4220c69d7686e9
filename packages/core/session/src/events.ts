/** Owns the core vocabulary of a session log: each event type with schema, version and meaning. */
import { Type } from 'typebox'
import {
  ask,
  assistantPart,
  blob,
  card,
  closed,
  content,
  count,
  hook,
  object,
  optionalText,
  text,
  toolCall,
  toolResult,
  usage,
  v1,
} from './event-parts.ts'
import type { EventTable } from './types.ts'

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
  'permission/granted': {
    version: 1,
    meaning: 'A person who was asked about a call chose that this rule lets such calls pass from here on.',
    schema: Type.Object({ rule: text, by: text }, closed),
  },
  'permission/revoked': {
    version: 1,
    meaning: 'A granted rule lets no call pass any more.',
    schema: Type.Object({ rule: text, by: text }, closed),
  },
  'hook/invoked': {
    version: 1,
    meaning: 'A hook of a configuration was started.',
    schema: Type.Object({ hook, callId: optionalText }, closed),
  },
  'hook/result': {
    version: 1,
    meaning: 'How a hook ended, and what it decided; its cause is the start.',
    schema: Type.Object(
      {
        hook,
        decision: oneOf('none', 'allow', 'ask', 'deny', 'no-verdict', 'interrupted'),
        exitCode: Type.Optional(Type.Integer()),
        durationMs: Type.Optional(Type.Number({ minimum: 0 })),
        stderrTail: optionalText,
        detail: optionalText,
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
