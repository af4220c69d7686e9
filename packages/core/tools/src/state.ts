/** Owns the state of one call while it is on its way. It dies with the call. */
import type { Clock, Json } from '@sluice/base'
import type { AbortSource, Asked, Limit, Listener, Listeners, RequiredPlugins, TimeLimits } from '@sluice/listeners'
import type { Step } from '@sluice/pipeline'
import type { AskData, ContentPart, Executed, Outcome, Session } from '@sluice/session'
import type { ApprovalPort } from './approval.ts'
import type { Given } from './arguments.ts'
import type { Call } from './call.ts'
import type { Registered } from './definition.ts'
import type { CallEvent } from './emitted-events.ts'
import type { ToolResult } from './outcome.ts'
import type { Config } from './plugin.ts'
import type { Registry } from './registry.ts'
import type { Holder, Slots } from './slots.ts'
import type { SettledCall } from './types.ts'

/** What every call of one service shares. */
export interface Machine {
  readonly config: Readonly<Config>
  readonly clock: Clock
  readonly limits: TimeLimits
  readonly registry: Registry
  readonly listeners: Listeners
  readonly policies: RequiredPlugins
  approval(): ApprovalPort | undefined
  /** Calls back when the approval service goes while somebody waits for it. */
  onApprovalGone(callback: () => void): () => void
  /** Something that changes no outcome but that a person should be able to see. */
  readonly report: (message: string) => void
  run(state: CallState): Promise<SettledCall>
}

export interface Try {
  readonly try: number
  readonly status: string
  readonly executed: Executed
  readonly ms: number
}

/** A recorded step. */
export interface TraceStep extends Step {
  ms?: number
  by?: string
  reason?: string
  code?: string
  rule?: string
  asked?: Asked[]
  /** Who was mounted and not asked, because the stage ended before. */
  unasked?: string[]
  tries?: Try[]
  queuedMs?: number
}

export interface Denial {
  readonly reason: string
  readonly rule?: string
  readonly code?: string
  /** For the model, shown after the reason. */
  readonly remedy?: string
}

export interface CallStart {
  readonly machine: Machine
  readonly session: Session
  readonly agent: string | undefined
  readonly id: string
  readonly originalId: string | undefined
  readonly tool: string
  readonly given: string | Json
  readonly batch: number
  readonly index: number
  readonly source: AbortSource
  readonly slots: Slots
  readonly parent: CallState | undefined
  readonly cutOff: string | undefined
  /** Resolves when every call of the batch has been admitted. */
  readonly gate: Promise<void> | undefined
  readonly onProgress: (update: Json) => void
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const noContexts: readonly string[] = Object.freeze([])

export class CallState {
  readonly start: CallStart
  readonly machine: Machine
  /** Arguments as they came. */
  given: Given = { text: '', problem: { path: '$', problem: 'not read' } }
  /** What was changed to make them fit. */
  repairs: readonly string[] = []
  entry: Registered | undefined
  call: Call | undefined
  /** The log has the call. */
  logged = false
  asks: AskData[] = []
  denial: (Denial & { readonly by: string }) | undefined
  outcome: Outcome | undefined
  content: readonly ContentPart[] = []
  value: Json | undefined
  /** Frozen, as is the outcome. */
  contexts: readonly string[] = noContexts
  endTurn = false
  rewrittenBy: string | undefined
  /** The result as it was looked at last. */
  seen: ToolResult | undefined
  /** What `tools/result` was told. */
  made: ToolResult | undefined
  /** What is known of the body, whatever wrappers say. `running`: bodies that have not settled; `left`: nested calls whose
   *  bodies were abandoned and have not settled; `nested`: nested calls so far, over all tries. */
  readonly body = { started: false, running: 0, left: 0, abandoned: false, tries: 0, nested: 0 }
  /** The slot, while the call has one. */
  slot: Holder | undefined
  queuedMs = 0
  /** Called when the last body has settled after the call left `execute`. */
  private onBodyEnd: (() => void)[] | undefined
  readonly trace: TraceStep[] = []
  /** The step being taken. */
  detail: Mutable<TraceStep> = { stage: '', outcome: '', ms: 0 }
  readonly startedAt: number
  private stageAt: number
  /** Limits of its tries: they stand still while a nested call waits for a person. */
  deadlines: Limit[] | undefined

  constructor(start: CallStart) {
    this.start = start
    this.machine = start.machine
    this.startedAt = this.stageAt = start.machine.clock.monotonic()
  }

  get executed(): Executed {
    if (!this.body.started) return 'no'
    return this.body.running > 0 || this.body.abandoned ? 'unknown' : 'yes'
  }

  /** A body of the call, or of one of its nested calls, has not settled. */
  get lingers(): boolean {
    return this.body.running > 0 || this.body.left > 0
  }

  whenBodiesEnd(then: () => void): void {
    ;(this.onBodyEnd ??= []).push(then)
  }

  bodyEnded(): void {
    if (this.lingers) return
    for (const then of this.onBodyEnd?.splice(0) ?? []) then()
  }

  listenersOf(event: CallEvent): readonly Listener[] {
    return this.machine.listeners.of(event, this.start.agent)
  }

  step(stage: string, outcome: string): void {
    const { detail } = this
    const now = this.machine.clock.monotonic()
    detail.stage = stage
    detail.outcome = outcome
    detail.ms = rounded(now - this.stageAt)
    this.trace.push(detail)
    this.detail = { stage: '', outcome: '', ms: 0 }
    this.stageAt = now
  }

  /** Records who was not asked: `all` but the first `reached`. */
  noteUnasked(all: readonly { readonly plugin: string; readonly label?: string }[], reached: number): void {
    if (reached < all.length) this.detail.unasked = all.slice(reached).map(({ plugin, label }) => label ?? plugin)
  }

  deny(by: string, denial: Denial): void {
    const { reason, rule, code } = denial
    this.denial = { ...denial, by }
    // What is undefined is left out of the trace as it is written.
    Object.assign(this.detail, { by, reason, rule, code })
  }
}

/** Microseconds are as fine as it gets. */
export function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

/** A call that has passed `admit`. */
export type AdmittedCall = CallState & { readonly entry: Registered; call: Call }
/** A call that something denied. */
export type DeniedCall = AdmittedCall & { readonly denial: NonNullable<CallState['denial']> }
/** A call whose outcome is known, though content and value may still change. */
export type DecidedCall = CallState & { outcome: Outcome }
/** A decided call that passed `admit`. */
export type EndedCall = AdmittedCall & DecidedCall
