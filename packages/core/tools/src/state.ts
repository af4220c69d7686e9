/** Owns the state of one call while it is on its way. It dies with the call. */
import type { Clock, Json, JsonObject } from '@sluice/base'
import type { Step } from '@sluice/pipeline'
import type { AskData, Card, ContentPart, Executed, Outcome, Session } from '@sluice/session'
import type { AbortSource } from './abort.ts'
import type { Registered } from './definition.ts'
import type { Listeners } from './listeners.ts'
import type { Registry } from './registry.ts'
import type { Place } from './places.ts'
import type { Slots } from './slots.ts'
import type { ApprovalPort, Attempt, Call, DenyVerdict, Offer, SettledCall, ToolResult } from './types.ts'
import type { Watchdog } from './watchdog.ts'

export interface ToolsConfig {
  /** Verdict when every listener abstains. */
  readonly otherwise: 'ask' | 'allow' | 'deny'
  /** Names of plugins whose allow counts. */
  readonly mayAllow: readonly string[]
  readonly listenerTimeoutMs: number
  /** Overrides by event name. */
  readonly listenerTimeouts: Readonly<Record<string, number>>
  readonly graceMs: number
  readonly parallelMax: number
}

/** What every call of one service shares. */
export interface Machine {
  readonly config: ToolsConfig
  readonly clock: Clock
  readonly watchdog: Watchdog
  readonly registry: Registry
  readonly listeners: Listeners
  /** Required policies that are not active now. */
  missing(): readonly string[]
  approval(): ApprovalPort | undefined
  /** Calls back when the approval service goes while somebody waits for it. */
  onApprovalGone(callback: () => void): () => void
  /** Something that changes no outcome but that a person should be able to see. */
  report(message: string): void
  run(state: CallState): Promise<void>
}

/** What one listener said; an abstention is its plugin only. */
export type Asked =
  | string
  | {
      readonly plugin: string
      readonly said: string
      readonly reason?: string
      readonly rule?: string
      /** Rules that would have allowed the call, as offered to a person. */
      readonly offers?: readonly Offer[]
      readonly ms: number
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
  readonly by: string
  readonly reason: string
  readonly rule?: string
  readonly code?: string
  readonly remedy?: string
}

/** What is known of the body, whatever wrappers say. */
export interface BodyFacts {
  started: boolean
  /** Bodies that have not settled. */
  running: number
  /** Nested calls whose bodies were abandoned and have not settled. */
  left: number
  abandoned: boolean
  tries: number
  /** Nested calls so far, over all tries. */
  nested: number
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

export class CallState {
  readonly start: CallStart
  readonly machine: Machine
  entry: Registered | undefined
  call: Call | undefined
  card: Card | undefined
  /** The log has the call. */
  logged = false
  /** What the log holds as the arguments' text. */
  argumentsText = ''
  asks: AskData[] = []
  denial: Denial | undefined
  attempt: Attempt | undefined
  outcome: Outcome | undefined
  content: readonly ContentPart[] = []
  value: Json | undefined
  contexts: readonly string[] = []
  endTurn = false
  rewrittenBy: string | undefined
  /** What was changed to make the arguments fit. */
  repairs: readonly string[] | undefined
  /** Argument text that could not be used, cut short. */
  quoted: string | undefined
  /** What `tools/result` was told. */
  made: ToolResult | undefined
  readonly body: BodyFacts = { started: false, running: 0, left: 0, abandoned: false, tries: 0, nested: 0 }
  /** Frees the slot; set while the call holds one. */
  release: (() => void) | undefined
  /** The call's place among the bodies that run at once: a call with running children counts as waiting. */
  place: Place | undefined
  /** Called when the last body has settled after the call left `execute`. */
  private onBodyEnd: (() => void)[] = []
  queuedMs = 0
  readonly trace: TraceStep[] = []
  /** Details of the step being taken. */
  detail: Omit<TraceStep, 'stage' | 'outcome'> = {}
  readonly startedAt: number
  stageAt: number
  settled: SettledCall | undefined
  /** Limits of tries under way: they stand still while a nested call waits for a person. */
  readonly deadlines = new Set<{ pause(): void; resume(): void }>()

  constructor(start: CallStart) {
    this.start = start
    this.machine = start.machine
    this.startedAt = start.machine.clock.monotonic()
    this.stageAt = this.startedAt
  }

  get args(): JsonObject {
    return this.call?.args ?? {}
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
    this.onBodyEnd.push(then)
  }

  bodyEnded(): void {
    if (this.lingers) return
    for (const then of this.onBodyEnd.splice(0)) then()
  }

  /** Records who was not asked: `all` but the first `reached`. */
  noteUnasked(all: readonly { readonly plugin: string; readonly label?: string }[], reached: number): void {
    if (reached < all.length) this.detail.unasked = all.slice(reached).map(({ plugin, label }) => label ?? plugin)
  }

  deny(denial: Denial): void {
    this.denial = denial
    this.detail.by = denial.by
    this.detail.reason = denial.reason
    if (denial.rule !== undefined) this.detail.rule = denial.rule
    if (denial.code !== undefined) this.detail.code = denial.code
  }

  denyBy(by: string, verdict: DenyVerdict): void {
    const { reason, rule, remedy } = verdict
    this.deny({ by, reason, ...(rule !== undefined && { rule }), ...(remedy !== undefined && { remedy }) })
  }
}
