/** Owns the words of tools: definitions, calls, verdicts, attempts, results and the Approval port. */
import type {} from 'cordis'
import type { Json, JsonObject } from '@sluice/base'
import type { AskData, Card, ContentPart, Executed, Outcome, Session, ToolResultData } from '@sluice/session'
import type { TSchema } from 'typebox'
import type { CallAnswer } from './table.ts'

export type { Card, ContentPart, Executed, Outcome } from '@sluice/session'

type Awaitable<T> = T | PromiseLike<T>

// ---- definitions ----------------------------------------------------------------------------------------------------

export interface Annotations {
  /** The body changes nothing outside. */
  readonly readOnly?: boolean
  /** Running the body twice with the same arguments has the effect of once. */
  readonly idempotent?: boolean
  /** The body may destroy what cannot be made again. */
  readonly destructive?: boolean
  /** The body reaches beyond the workspace (network, other people). */
  readonly openWorld?: boolean
  /** The body acts only through nested calls, each of which is judged by itself. */
  readonly transparent?: boolean
  /** The body starts programs that its arguments choose. */
  readonly startsProcesses?: boolean
}

/** Keys that a body reads or writes: many readers or one writer per key. */
export interface Keys {
  readonly reads?: readonly string[]
  readonly writes?: readonly string[]
}

export type Overlap<Args = JsonObject> = 'exclusive' | 'parallel' | ((args: Args, session: Session) => Keys)

/** What a third party registers. Everything but name, description, parameters and `execute` is optional. */
export interface ToolDefinition<Args = JsonObject> {
  /** `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string
  readonly description: string
  /** JSON Schema of an object (TypeBox, or any Standard JSON Schema with `~standard.jsonSchema`). */
  readonly parameters: TSchema | object
  /** JSON Schema of the value that `execute` returns. */
  readonly output?: TSchema | object
  readonly annotations?: Annotations
  /** Names of the same tool in other products' configurations, such as `Bash`. */
  readonly aliases?: readonly string[]
  /** How bodies may overlap in a batch. Default `exclusive`. */
  readonly overlap?: Overlap<Args>
  /** Deadline of one try in ms; `policy/timeout` enforces it. */
  readonly timeoutMs?: number
  /** `false`: arguments are taken as they are, never repaired. */
  readonly repair?: false
  /** `false`: the tool cannot be called by the body of another. */
  readonly nested?: false
  execute(args: Args, run: Run): Awaitable<unknown>
  /** What the model reads of a value. Default: the text itself, or JSON. */
  render?(value: Json, args: Args): string | readonly ContentPart[]
  /** Last change of the content, on every call that reached `prepare`. Synchronous. */
  finalizeContent?(call: Call, result: ToolResult): readonly ContentPart[]
  presentCall?(args: Args): Card
  presentResult?(args: Args, result: ToolResult): Card
  /** What a rule of the form `tool(specifier)` is compared with. */
  specifier?(args: Args): string | undefined
}

/** What a body is given. Dies when the body settles. */
export interface Run {
  readonly callId: string
  readonly agent: string | undefined
  readonly session: Session
  readonly signal: AbortSignal
  /** 1 for the first try. */
  readonly attempt: number
  progress(update: Json): void
  /** Says something to a person, through the logger. */
  log(message: string): void
  /** Makes a nested call; the only way to make one.
   *  @throws TOOLS_NESTED_FAILED with code, tool, reason, executed; TOOLS_RUN_OVER after the body has settled */
  call(tool: string, args: unknown): Promise<Json>
  /** Tells the model something after the batch. */
  context(message: string): void
  /** The turn ends after this batch. */
  endTurn(): void
}

// ---- the call as listeners see it -----------------------------------------------------------------------------------

/** Frozen. Nobody can change it. */
export interface Call {
  readonly id: string
  readonly tool: string
  readonly args: JsonObject
  readonly agent: string | undefined
  /** Id of the call whose body made this one; assigned by the executor. */
  readonly parent: string | undefined
  readonly session: Session
  readonly signal: AbortSignal
  readonly annotations: Annotations
  readonly aliases: readonly string[]
  /** Deadline that the definition asks for, in ms. */
  readonly timeoutMs: number | undefined
  /** `specifier(args)` of the definition. */
  readonly specifier: string | undefined
  readonly card: Card
}

export interface AbstainVerdict {
  readonly kind: 'abstain'
}
export interface AllowVerdict {
  readonly kind: 'allow'
  readonly reason?: string
  readonly rule?: string
}
export interface AskVerdict {
  readonly kind: 'ask'
  readonly reason: string
  readonly rule?: string
  /** Lasting rules that the person may choose to store, with their exact text. */
  readonly offers?: readonly Offer[]
}
export interface DenyVerdict {
  readonly kind: 'deny'
  readonly reason: string
  readonly rule?: string
  /** Remedy for the model, shown after the reason. */
  readonly remedy?: string
}
interface VerdictShapes {
  readonly allow: AllowVerdict
  readonly ask: AskVerdict
  readonly deny: DenyVerdict
}
/** What a listener of `tools/pre-execute` may say: to abstain, or an answer of the stage's row. */
export type Verdict = AbstainVerdict | VerdictShapes[CallAnswer<'pre-execute'>]

export interface Offer {
  readonly id: string
  /** The exact rule that would be stored. */
  readonly text: string
}

/** A deny reason, or nothing to abstain. Synchronous. */
export type Guard = (call: Call) => string | undefined

// ---- execution ------------------------------------------------------------------------------------------------------

/** What one try came to. */
export type Attempt =
  | { readonly status: 'succeeded'; readonly executed: Executed; readonly value: Json; readonly late?: true }
  | { readonly status: 'failed'; readonly executed: Executed; readonly code: string; readonly message: string }
  | { readonly status: 'aborted'; readonly executed: Executed; readonly reason: string }
  | { readonly status: 'timed-out'; readonly executed: Executed; readonly reason: string }

/** What a wrapper of `tools/execute` is given besides the call. */
export interface ExecuteRun {
  readonly attempt: number
  /** Fires when the call is aborted, or the deadline of a wrapper outside this one is over. */
  readonly signal: AbortSignal
  /** Adds a reason to abort this try: when `ms` have passed the signal of the body fires and the try is timed-out.
   *  The clock stands still while a nested call waits for a person. */
  deadline(ms: number): void
}

/** The result as post-execute listeners, presenters and observers see it. Frozen. */
export interface ToolResult {
  readonly callId: string
  readonly tool: string
  readonly outcome: Outcome
  readonly content: readonly ContentPart[]
  readonly value?: Json
  readonly contexts: readonly string[]
  readonly endTurn: boolean
}

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

// ---- requests and settlement ----------------------------------------------------------------------------------------

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

// ---- the Approval port ----------------------------------------------------------------------------------------------

export interface ApprovalRequest {
  readonly call: Call
  readonly card: Card
  readonly asks: readonly AskData[]
}

export type ApprovalDecision =
  | { readonly decision: 'allowed-once'; readonly by: string; readonly offer?: string }
  | { readonly decision: 'rejected'; readonly by: string; readonly message?: string }
  | { readonly decision: 'cancelled'; readonly by: string }
  | { readonly decision: 'unavailable'; readonly by: string; readonly message?: string }

/** Filled by `core/approval` as `ctx.approval`. Writes `approval/asked` and `approval/decided`, always paired. */
export interface ApprovalPort {
  /** Never rejects for a missing or broken answerer: that is `unavailable`. */
  ask(request: ApprovalRequest): Promise<ApprovalDecision>
}

// ---- the service ----------------------------------------------------------------------------------------------------

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
  readonly otherwise: 'ask' | 'allow' | 'deny'
}

/** A definition as others may see it: no body. */
export interface ToolInfo {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
  readonly output: JsonObject | undefined
  readonly annotations: Annotations
  readonly aliases: readonly string[]
  readonly overlap: 'exclusive' | 'parallel' | 'keys'
  readonly timeoutMs: number | undefined
  readonly plugin: string
}

/** Who makes a call: a model, or the body of another call. */
export type Reach = 'direct' | 'nested'

export interface Restriction {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly reach?: Reach
}

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
  /** Narrows an agent to some of the tools that it inherits; with `reach`, only for calls of that kind.
   *  Mounted for as long as the calling plugin is. */
  restrict(agent: string, rule: Restriction): Disposer
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
  interface Events {
    'tools/prepare'(call: Call, next: () => Awaitable<JsonObject>): Awaitable<JsonObject>
    'tools/pre-execute'(call: Call, next: () => Awaitable<Verdict>): Awaitable<Verdict>
    'tools/execute'(call: Call, run: ExecuteRun, next: () => Promise<Attempt>): Awaitable<Attempt>
    'tools/post-execute'(call: Call, result: ToolResult, next: () => Awaitable<PostVerdict>): Awaitable<PostVerdict>
    'tools/result'(call: Call, result: ToolResult): void
  }
}
