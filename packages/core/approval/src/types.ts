/** Owns the words of approval: questions, answers and who may answer. */
import type {} from 'cordis'
import type { ApprovalPort, Card, Disposer, ListenersOf } from '@sluice/tools'
import type { AskData } from '@sluice/session'
import type { approvalEvents } from './emitted-events.ts'

export interface Question {
  readonly callId: string
  readonly sessionId: string
  readonly tool: string
  /** One sentence for a person. */
  readonly text: string
  readonly asks: readonly AskData[]
  readonly card: Card
  /** Fires when the question is settled without this answerer. */
  readonly signal: AbortSignal
}

/** An answer names its call; one for another call changes nothing and is reported back. */
export type Answer =
  | { readonly callId: string; readonly kind: 'allow-once'; readonly offer?: string }
  | { readonly callId: string; readonly kind: 'reject'; readonly message?: string }
  | { readonly callId: string; readonly kind: 'cancel' }

/** Answers a question, or `undefined` to leave it to others. */
export type Answerer = (question: Question) => Promise<Answer | undefined> | Answer | undefined

export interface AnswererOptions {
  /** Told of an answer of this answerer that changed nothing, and why. */
  readonly onIgnored?: (answer: unknown, why: string) => void
}

/** What became of an answer that was given from outside. */
export type Receipt = { readonly accepted: true } | { readonly accepted: false; readonly why: string }

/** `ctx.approval`. */
export interface Approval extends ApprovalPort {
  /** Mounts an answerer for as long as the calling plugin is mounted. Several may be mounted: the first answer wins. */
  answerer(name: string, answer: Answerer, options?: AnswererOptions): Disposer
  /** Answers an open question from outside, for hosts that show questions and answer them later. */
  answer(sessionId: string, answer: Answer, by: string): Receipt
  answerers(): readonly { readonly name: string; readonly plugin: string }[]
  open(): readonly Question[]
}

declare module 'cordis' {
  interface Context {
    approval: Approval
  }
  interface Events extends ListenersOf<typeof approvalEvents> {}
}
