/** Owns one open question: the first valid answer settles it, everything later is ignored and said so. */
import { lossless, messageOf } from '@sluice/base'
import type { AskData } from '@sluice/session'
import type { ApprovalDecision, ApprovalRequest, Offer } from '@sluice/tools'
import type { AnswererOptions, Question, Receipt } from './types.ts'

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

export interface TakenOffer {
  readonly offer: Offer
  /** Plugin whose ask carried it. */
  readonly by: string
}

/** The one offer with this id. An id that two asks use names neither: nobody gets a rule that was not chosen. */
export function offerOf({ asks }: Question, id: unknown): TakenOffer | undefined {
  const named = asks.flatMap(({ by, offers = [] }) =>
    offers.filter((offer) => offer.id === id).map((offer) => ({ offer, by })),
  )
  return named.length === 1 ? named[0] : undefined
}

/** What `answer` decides, each field read once; or in words why it is no answer to `question`. */
function decode(answer: unknown, question: Question, by: string): ApprovalDecision | string {
  if (answer === null || typeof answer !== 'object') return 'it is no answer'
  const { callId, kind, offer, message } = answer as Record<string, unknown>
  if (callId !== question.callId) return `it answers ${messageOf(callId)}, not ${question.callId}`
  switch (kind) {
    case 'allow-once':
      if (offer === undefined) return { decision: 'allowed-once', by }
      if (typeof offer !== 'string' || !offerOf(question, offer)) return `there is no one offer ${messageOf(offer)}`
      return { decision: 'allowed-once', by, offer }
    case 'reject':
      return { decision: 'rejected', by, ...(typeof message === 'string' && { message }) }
    case 'cancel':
      return { decision: 'cancelled', by }
    default:
      return `${messageOf(kind)} is no kind of answer`
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
      asks: lossless(asks) as unknown as readonly AskData[],
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
      // One that was unloaded meanwhile has no say any more.
      if (answer === undefined || !this.waiting.has(answerer)) return
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
    const decision = this.over ? 'the question is already settled' : decode(answer, this.question, by)
    if (typeof decision !== 'string') {
      this.settle(decision)
      return { accepted: true }
    }
    this.report(`an answer of ${by} to ${this.question.callId} was ignored: ${decision}`)
    return { accepted: false, why: decision }
  }

  settle(decision: ApprovalDecision): void {
    this.over = true
    this.resolve(decision)
    this.controller.abort()
  }
}
