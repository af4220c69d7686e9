/** Owns `ctx.approval`: who may answer, and the paired record of each question and its decision. */
import { type Clock, messageOf } from '@sluice/base'
import type { ApprovalDecision, ApprovalRequest, Disposer, EventOf } from '@sluice/tools'
import { type Context, Service } from 'cordis'
import type { approvalEvents } from './emitted-events.ts'
import { expiredReason } from './prompt.ts'
import { type MountedAnswerer, offerOf, OpenQuestion } from './question.ts'
import type { Answer, Answerer, AnswererOptions, Approval, Question, Receipt } from './types.ts'

export class ApprovalService extends Service implements Approval {
  private readonly mounted = new Set<MountedAnswerer>()
  private readonly asked = new Set<OpenQuestion>()
  private readonly clock: Clock
  private readonly expiryMs: number
  private readonly own: Context
  private readonly report: (message: string) => void

  constructor(ctx: Context, expiryMs: number) {
    super(ctx, 'approval')
    this.own = ctx
    this.clock = ctx.world.clock
    this.expiryMs = expiryMs
    const logger = ctx.logger('approval')
    this.report = (message) => logger.warn('%s', message)
    ctx.effect(() => () => this.end(), 'ctx.approval')
  }

  answerer(name: string, answer: Answerer, options: AnswererOptions = {}): Disposer {
    const { ctx, mounted, asked } = this
    return ctx.effect(
      () => {
        const entry: MountedAnswerer = { name, plugin: `${ctx.fiber.name}#${ctx.fiber.uid}`, answer, options }
        mounted.add(entry)
        return () => {
          mounted.delete(entry)
          for (const open of asked) open.drop(entry)
        }
      },
      `ctx.approval.answerer(${JSON.stringify(name)})`,
    )
  }

  answerers(): readonly { readonly name: string; readonly plugin: string }[] {
    return [...this.mounted].map(({ name, plugin }) => ({ name, plugin }))
  }

  open(): readonly Question[] {
    return [...this.asked].map((open) => open.question)
  }

  answer(sessionId: string, answer: Answer, by: string): Receipt {
    // Read once more than the question does: here it only finds the question, which decides by its own reading.
    const { callId } = (answer ?? {}) as { callId?: unknown }
    for (const open of this.asked)
      if (open.question.sessionId === sessionId && open.question.callId === callId) return open.take(answer, by)
    const why = `no question about ${messageOf(callId)} is open`
    this.report(`an answer of ${by} was ignored: ${why}`)
    return { accepted: false, why }
  }

  async ask(request: ApprovalRequest): Promise<ApprovalDecision> {
    const { call, card } = request
    const open = new OpenQuestion(request, this.report)
    const { question } = open
    const { text, asks } = question
    const event = call.session.append('approval/asked', { callId: call.id, question: text, asks, card })
    this.asked.add(open)
    const abort = () => void this.decide(request, open, event.seq, { decision: 'cancelled', by: 'abort' })
    call.signal.addEventListener('abort', abort, { once: true })
    const expiry = this.expiryMs > 0 ? this.clock.timer(this.expiryMs, () => open.settle(expired)) : undefined
    try {
      this.tell('approval/question-opened', question)
      if (call.signal.aborted) abort()
      else open.put([...this.mounted])
      return this.decide(request, open, event.seq, await open.decided)
    } finally {
      call.signal.removeEventListener('abort', abort)
      expiry?.()
    }
  }

  /** Appends the decision, once, and gives the one that stands: what cannot be recorded permits nothing. An abort appends at
   *  once, so that it stands before the result of the call. */
  private decide(
    request: ApprovalRequest,
    open: OpenQuestion,
    cause: number,
    decision: ApprovalDecision,
  ): ApprovalDecision {
    if (!this.asked.delete(open)) return decision
    open.settle(decision)
    const { question } = open
    const taken = decision.decision === 'allowed-once' ? offerOf(question, decision.offer) : undefined
    try {
      request.call.session.append(
        'approval/decided',
        {
          callId: question.callId,
          decision: decision.decision,
          by: decision.by,
          ...('message' in decision && decision.message !== undefined && { message: decision.message }),
          ...(taken && { offer: taken.offer.text }),
        },
        { cause },
      )
    } catch (error) {
      this.report(`the decision about ${question.callId} could not be recorded: ${messageOf(error)}`)
      this.tell('approval/question-closed', question, gone.decision)
      return gone
    }
    this.tell('approval/question-closed', question, decision.decision)
    if (taken) this.tell('approval/offer-taken', question, taken.offer, taken.by)
    return decision
  }

  private tell(name: EventOf<typeof approvalEvents>, ...args: unknown[]): void {
    try {
      // oxlint-disable-next-line typescript/no-explicit-any
      ;(this.own.emit as (...all: any[]) => void)(name, ...args)
    } catch (error) {
      this.report(`a listener of ${name} failed: ${messageOf(error)}`)
    }
  }

  private end(): void {
    for (const open of this.asked) open.settle(gone)
  }
}

const gone: ApprovalDecision = Object.freeze({ decision: 'unavailable', by: 'approval' })

const expired: ApprovalDecision = Object.freeze({
  decision: 'unavailable',
  by: 'expiry',
  message: expiredReason,
})
