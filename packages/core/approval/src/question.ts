/** Owns one open question: the first valid answer settles it, everything later is ignored and said so. */
import { messageOf } from '@sluice/base'
import type { ApprovalDecision, ApprovalRequest, Offer } from '@sluice/tools'
import type { Answer, AnswererOptions, Question, Receipt } from './types.ts'

export interface MountedAnswerer {
  readonly name: string
  readonly plugin: string
  readonly answer: (question: Question) => unknown
  readonly options: AnswererOptions
}

export function textOf({ call, asks }: ApprovalRequest): string {
  const what = call.specifier === undefined ? call.tool : `${call.tool}(${call.specifier})`
  return `Allow ${what}? ${asks.map((ask) => ask.reason).join('; ')}`
}

/** Why `answer` is no answer to `question`; `undefined` when it is one. */
function wrongWith(answer: unknown, question: Question): string | undefined {
  if (answer === null || typeof answer !== 'object') return 'it is no answer'
  const { callId, kind, offer } = answer as { callId?: unknown; kind?: unknown; offer?: unknown }
  if (callId !== question.callId) return `it answers ${String(callId)}, not ${question.callId}`
  if (kind !== 'allow-once' && kind !== 'reject' && kind !== 'cancel') return `${String(kind)} is no kind of answer`
  if (kind === 'allow-once' && offer !== undefined && !offerOf(question, offer))
    return `there is no offer ${String(offer)}`
  return undefined
}

export function offerOf(question: Question, id: unknown): Offer | undefined {
  return question.asks.flatMap((ask) => ask.offers ?? []).find((offer) => offer.id === id)
}

function decisionOf(answer: Answer, by: string): ApprovalDecision {
  switch (answer.kind) {
    case 'allow-once':
      return { decision: 'allowed-once', by, ...(answer.offer !== undefined && { offer: answer.offer }) }
    case 'reject':
      return { decision: 'rejected', by, ...(typeof answer.message === 'string' && { message: answer.message }) }
    case 'cancel':
      return { decision: 'cancelled', by }
  }
}

export class OpenQuestion {
  readonly question: Question
  readonly decided: Promise<ApprovalDecision>
  private readonly controller = new AbortController()
  private readonly waiting = new Set<MountedAnswerer>()
  private readonly report: (message: string) => void
  private resolve!: (decision: ApprovalDecision) => void
  private over = false

  constructor(request: ApprovalRequest, report: (message: string) => void) {
    const { call, card, asks } = request
    this.report = report
    this.question = Object.freeze({
      callId: call.id,
      sessionId: call.session.id,
      tool: call.tool,
      text: textOf(request),
      asks,
      card,
      signal: this.controller.signal,
    })
    this.decided = new Promise((resolve) => (this.resolve = resolve))
  }

  /** Puts the question to all at once. When none of them answers, nobody could be asked. */
  put(answerers: readonly MountedAnswerer[]): void {
    for (const answerer of answerers) this.waiting.add(answerer)
    for (const answerer of answerers) void this.consult(answerer)
    this.endIfAlone()
  }

  private async consult(answerer: MountedAnswerer): Promise<void> {
    try {
      const answer = await answerer.answer(this.question)
      if (answer === undefined) return
      const receipt = this.take(answer, answerer.name)
      if (!receipt.accepted) answerer.options.onIgnored?.(answer, receipt.why)
    } catch (error) {
      this.report(`the answerer ${answerer.name} failed: ${messageOf(error)}`)
    } finally {
      this.drop(answerer)
    }
  }

  /** An answerer that is gone is not waited for. */
  drop(answerer: MountedAnswerer): void {
    if (this.waiting.delete(answerer)) this.endIfAlone()
  }

  private endIfAlone(): void {
    if (this.waiting.size === 0) this.settle({ decision: 'unavailable', by: 'approval' })
  }

  take(answer: unknown, by: string): Receipt {
    const wrong = this.over ? 'the question is already settled' : wrongWith(answer, this.question)
    if (wrong !== undefined) {
      this.report(`an answer of ${by} to ${this.question.callId} was ignored: ${wrong}`)
      return { accepted: false, why: wrong }
    }
    this.settle(decisionOf(answer as Answer, by))
    return { accepted: true }
  }

  settle(decision: ApprovalDecision): void {
    if (this.over) return
    this.over = true
    this.resolve(decision)
    this.controller.abort()
  }
}
