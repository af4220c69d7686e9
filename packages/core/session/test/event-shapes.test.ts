import type { JsonObject } from '@sluice/base'
import type { Static } from 'typebox'
import { expect, test } from 'vitest'
import type { SessionEventMap, sessionEvents } from '../src/index.ts'

type Table = typeof sessionEvents
type Leaf = string | number | boolean | null | undefined
/** Without what a schema does not say: that events are frozen. */
type Plain<T> = JsonObject extends T
  ? JsonObject
  : T extends Leaf
    ? T
    : T extends readonly (infer Item)[]
      ? Plain<Item>[]
      : { -readonly [Key in keyof T]: Plain<T[Key]> }
/** Two types that differ in an optional field alone fit each other; these do not. */
type Full<T> = JsonObject extends T
  ? JsonObject
  : T extends Leaf
    ? T
    : T extends readonly (infer Item)[]
      ? Full<Item>[]
      : { -readonly [Key in keyof T]-?: Full<T[Key]> }
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? never : 'the type says more') : 'the schema says more'
type Difference<Name extends keyof Table> =
  | Same<Plain<Static<Table[Name]['schema']>>, Plain<SessionEventMap[Name]>>
  | Same<Full<Static<Table[Name]['schema']>>, Full<SessionEventMap[Name]>>
type Different = { [Name in keyof Table]: [Difference<Name>] extends [never] ? never : Name }[keyof Table]

test('the schema and the type of each event of this package say the same', () => {
  // The compiler refuses an empty list as soon as a name has to stand in it.
  const different: [Different] extends [never] ? [] : [Different] = []
  expect(different).toEqual([])
})
