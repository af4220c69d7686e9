import type { AnswerOf, OutcomeOf, StageOf } from '@sluice/pipeline'
import { describe, expectTypeOf, test } from 'vitest'
import type { small } from './tables.ts'

// 1.2
describe('types of a table', () => {
  test('stages, outcomes and answers are unions of the words in the table', () => {
    expectTypeOf<StageOf<typeof small>>().toEqualTypeOf<'ask' | 'do' | 'mend' | 'show'>()
    expectTypeOf<OutcomeOf<typeof small, 'ask'>>().toEqualTypeOf<'yes' | 'no'>()
    expectTypeOf<AnswerOf<typeof small, 'ask'>>().toEqualTypeOf<'yes' | 'no'>()
    expectTypeOf<AnswerOf<typeof small, 'do'>>().toEqualTypeOf<'done'>()
  })
})
