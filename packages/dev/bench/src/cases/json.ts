/** Owns T8 and T9: the lossless copy against one stringify, and validation against a hand-written check. */
import { lossless, schemaCheck } from '@sluice/base'
import { Type } from 'typebox'
import type { Case } from '../measure.ts'

function records(bytes: number): unknown {
  const matches = []
  for (let size = 0, line = 0; size < bytes; size += 105, line++) {
    matches.push({
      path: `src/module${line}/file.ts`,
      line,
      score: line / 7,
      ok: line % 3 === 0,
      tags: ['a', 'b'],
      note: null,
    })
  }
  return { matches, truncated: false }
}

const value = records(100_000)
const edit = {
  path: 'src/index.ts',
  edits: Array.from({ length: 5 }, (_, i) => ({ oldText: `old ${i}`, newText: `new ${i}`, replaceAll: false })),
}
const schema = schemaCheck(
  Type.Object({
    path: Type.String(),
    edits: Type.Array(
      Type.Object({ oldText: Type.String(), newText: Type.String(), replaceAll: Type.Optional(Type.Boolean()) }),
    ),
  }),
)

function byHand(given: unknown): boolean {
  const { path, edits } = given as typeof edit
  if (typeof path !== 'string' || !Array.isArray(edits)) return false
  for (const piece of edits) {
    if (typeof piece.oldText !== 'string' || typeof piece.newText !== 'string') return false
    if (piece.replaceAll !== undefined && typeof piece.replaceAll !== 'boolean') return false
  }
  return true
}

function times(count: number, work: () => unknown) {
  return () => () => {
    for (let i = 0; i < count; i++) if (work() === undefined) throw new Error('no result')
  }
}

export const jsonCases: readonly Case[] = [
  {
    id: 'T8',
    what: 'lossless copy and freeze of 100 KB of records, against one JSON.stringify',
    units: 5,
    rounds: 25,
    clock: 'cpu',
    floor: { name: 'JSON.stringify', prepare: times(5, () => JSON.stringify(value)) },
    ours: { name: 'lossless', prepare: times(5, () => lossless(value)) },
    target: 2.5,
  },
  {
    id: 'T9',
    what: 'validation of an edit call with five edits, against a check by hand',
    units: 50_000,
    rounds: 15,
    clock: 'cpu',
    floor: { name: 'by hand', prepare: times(50_000, () => byHand(edit)) },
    ours: { name: 'compiled schema', prepare: times(50_000, () => schema.test(edit)) },
    target: undefined,
    note: 'target is set against ajv',
  },
]
