/** Owns the Cordis events of a call: one for each stage that the table opens by an event. */
import type { JsonObject } from '@sluice/base'
import { type Awaitable, defineEvents, type EventOf, notification, waterfall } from '@sluice/listeners'
import type { Attempt } from './attempt.ts'
import type { Call } from './call.ts'
import type { ExecuteRun } from './execute.ts'
import type { ToolResult } from './outcome.ts'
import type { PassedOn, PostVerdict } from './post.ts'
import type { Verdict } from './verdicts.ts'

export const toolsEvents = defineEvents('tools', {
  'tools/prepare': waterfall<[call: Call], JsonObject>('Asked for the arguments; another object replaces them.'),
  'tools/pre-execute': waterfall<[call: Call], Verdict>('Asked whether the call may run; the strictest verdict wins.'),
  'tools/execute': waterfall<[call: Call, run: ExecuteRun], Attempt, Promise<Attempt>>(
    'Wraps the body, which `next()` runs.',
  ),
  'tools/post-execute': waterfall<[call: Call, result: ToolResult], PostVerdict, Awaitable<PassedOn>>(
    'Asked whether the result stands, is replaced or is blocked.',
  ),
  'tools/result': notification<[call: Call, result: ToolResult]>(
    'Told the one result of a call before it is recorded.',
  ),
})

export type CallEvent = EventOf<typeof toolsEvents>
