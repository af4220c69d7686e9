/** Owns the words of `ctx.tools`: requests, what they settle to, and the events that plugins take part by. */
import type {} from 'cordis'
import type { Json, JsonObject } from '@sluice/base'
import type { ListenersOf } from '@sluice/listeners'
import type { Session, ToolResultData } from '@sluice/session'
import type { ToolDefinition, ToolInfo } from './definition.ts'
import type { toolsEvents } from './emitted-events.ts'
import type { Guard } from './guards.ts'
import type { ToolResult } from './outcome.ts'
import type { Config } from './plugin.ts'

export interface CallRequest {
  readonly id: string
  readonly tool: string
  /** Argument text as the model wrote it, or a JSON value. */
  readonly arguments: string | Json
}

export interface BatchRequest {
  readonly session: Session
  readonly calls: readonly CallRequest[]
  readonly agent?: string
  readonly signal?: AbortSignal
  /** Why the assistant message is not to be trusted: its calls are settled without running. */
  readonly cutOff?: string
  /** Live updates; a throw is contained. */
  readonly onProgress?: (callId: string, update: Json) => void
}

/** A settled call. Frozen; the same object in log, listeners and caller. */
export interface SettledCall {
  readonly callId: string
  readonly result: ToolResult
  readonly data: Readonly<ToolResultData>
}

export interface SettledBatch {
  /** In request order. */
  readonly calls: readonly SettledCall[]
  /** Contexts of all calls, first in first out in request order. */
  readonly contexts: readonly string[]
  readonly endTurn: boolean
}

/** What is mounted, for documentation and explanation. */
export interface ListenerInfo {
  /** `name#uid` of the plugin. */
  readonly plugin: string
  readonly order: number
  /** Agent that the listener is narrowed to. */
  readonly scope: string | undefined
}

export interface LivePipeline {
  /** By event name, in dispatch order. */
  readonly listeners: ReadonlyMap<string, readonly ListenerInfo[]>
  readonly guards: readonly (ListenerInfo & { readonly name: string })[]
  readonly required: readonly string[]
  readonly mayAllow: readonly string[]
  readonly otherwise: Config['otherwise']
}

/** Who makes a call: a model, or the body of another call. */
export type Reach = 'direct' | 'nested'

export interface Restriction {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

/** False for a tool that `agent` may not call in this way. */
export type ToolFilter = (tool: string, agent: string | undefined, reach: Reach) => boolean

/** Ends a registration before its plugin does; resolves when it is gone. */
export type Disposer = () => Promise<void>

/** `ctx.tools`. */
export interface Tools {
  /** Mounts a tool for as long as the calling plugin is mounted.
   *  @throws TOOLS_NAME_INVALID, TOOLS_NAME_TAKEN, TOOLS_SCHEMA_INVALID */
  register<Args = JsonObject>(definition: ToolDefinition<Args>): Disposer
  guard(name: string, guard: Guard): Disposer
  /** Tools that an agent may call, sorted by name: `direct` by its model, `nested` by the bodies of its calls. */
  visible(agent?: string, reach?: Reach): readonly ToolInfo[]
  /** Narrows an agent to some of the tools that it inherits, for as long as the calling plugin is mounted. */
  restrict(agent: string, rule: Restriction): Disposer
  /** Has the last word on which tools an agent sees, those registered for it alone too. Asked anew when a registration changes. */
  filter(filter: ToolFilter): Disposer
  /** Runs the calls of one assistant message. Never rejects for a failure of a call. */
  batch(request: BatchRequest): Promise<SettledBatch>
  /** Runs one call: a batch of one. */
  execute(request: Omit<BatchRequest, 'calls'> & { readonly call: CallRequest }): Promise<SettledCall>
  live(): LivePipeline
}

declare module 'cordis' {
  interface Context {
    tools: Tools
  }
  interface EventOptions {
    /** Lower runs first (outermost); default 0; ties by plugin. */
    order?: number
  }
  interface Events extends ListenersOf<typeof toolsEvents> {}
}
