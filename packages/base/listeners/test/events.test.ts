import {
  type Awaitable,
  defineEvents,
  type EventOf,
  type ListenersOf,
  notification,
  waterfall,
} from '@sluice/listeners'
import { describe, expect, expectTypeOf, it } from 'vitest'

const plans = () =>
  defineEvents('plans', {
    'plan/review-step': waterfall<[step: string, at: number], boolean>('Asked about a step.', 'review'),
    'plan/weigh-step': waterfall<[], number, Promise<1 | 2>>('Asked for a weight.'),
    'plan/step-done': notification<[step: string]>('A step is done.'),
  })

describe('declared events', () => {
  it('give the types of their listeners', () => {
    expectTypeOf<ListenersOf<ReturnType<typeof plans>>>().toEqualTypeOf<{
      'plan/review-step': (step: string, at: number, next: () => Awaitable<boolean>) => Awaitable<boolean>
      'plan/weigh-step': (next: () => Promise<1 | 2>) => Awaitable<number>
      'plan/step-done': (step: string) => void
    }>()
    expectTypeOf<EventOf<ReturnType<typeof plans>, 'notification'>>().toEqualTypeOf<'plan/step-done'>()
  })

  it('say how they are dispatched, by whom and when, and cannot be changed', () => {
    const table = plans()
    expect(table).toEqual({
      emitter: 'plans',
      events: {
        'plan/review-step': { kind: 'waterfall', when: 'Asked about a step.', during: ['review'] },
        'plan/weigh-step': { kind: 'waterfall', when: 'Asked for a weight.', during: [] },
        'plan/step-done': { kind: 'notification', when: 'A step is done.', during: [] },
      },
    })
    const { 'plan/review-step': review, 'plan/step-done': done } = table.events
    const parts = [table, table.events, review, review.during, done, done.during]
    expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true))
  })
})
