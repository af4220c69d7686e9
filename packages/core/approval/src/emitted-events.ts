/** Owns the Cordis events by which `ctx.approval` tells of its questions. */
import { type CallStage, defineEvents, notification, type Offer } from '@sluice/tools'
import type { Question } from './types.ts'

const stage: CallStage = 'approval'

export const approvalEvents = defineEvents('approval', {
  'approval/question-opened': notification<[question: Question]>('A question waits for an answer.', stage),
  'approval/question-closed': notification<[question: Question, decision: string]>('A question is decided.', stage),
  'approval/offer-taken': notification<[question: Question, offer: Offer, by: string]>(
    'A person took an offer: the asker `by` stores the rule, or where nobody decided (`otherwise`), whoever offered it.',
    stage,
  ),
})
