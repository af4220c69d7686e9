/** Owns the tables that the tests of this package run over: one small by hand, and random sound ones. */
import { defineTable, type Detour, type StageRow, type StageTable, type Step } from '@sluice/pipeline'
import fc from 'fast-check'

/** ask → do → show, with a rescue that leads to show. */
export const small = defineTable({
  name: 'small',
  start: 'ask',
  end: 'end',
  rescue: 'mend',
  stages: {
    ask: {
      does: 'Asks.',
      opened: { kind: 'waterfall', name: 'x/ask' },
      outcomes: { yes: 'do', no: 'show' },
      answers: ['yes', 'no'],
      detours: ['threw', 'expired', 'aborted'],
    },
    do: { does: 'Does it.', outcomes: { done: 'show' }, detours: ['threw'] },
    mend: { does: 'Mends.', outcomes: { mended: 'show' } },
    show: { does: 'Shows.', outcomes: { shown: 'end' } },
  },
})

const detourNames: readonly Detour[] = ['threw', 'expired', 'aborted']
const odd = ['constructor', '__proto__', 'toString', 'threw', '', 'a b', '"', '1', 'ü']
const nameArb = fc.oneof(fc.constantFrom(...odd), fc.string({ minLength: 1, maxLength: 4 }))

/** Sound tables of up to six stages: every edge leads forward, detours only stand before the rescue. */
export const tableArb: fc.Arbitrary<StageTable> = fc.gen().map((g) => {
  const names = g(() => fc.uniqueArray(nameArb, { minLength: 2, maxLength: 7 }))
  const end = names.pop() as string
  const last = names.length
  const below = (max: number) => g(() => fc.nat({ max }))
  const rescue = last > 1 && g(() => fc.boolean()) ? 1 + below(last - 2) : last
  const targets = names.map((): string[] => [])
  for (let i = 1; i < last; i++) targets[below(i - 1)]?.push(names[i] as string)
  for (let i = 0; i < last; i++) {
    const more = below(2) + (targets[i]?.length === 0 ? 1 : 0)
    for (let k = 0; k < more; k++) targets[i]?.push(names[i + 1 + below(last - i - 1)] ?? end)
  }
  const rows = names.map((name, i): [string, StageRow] => {
    const count = targets[i]?.length ?? 0
    const outcomes = g(() => fc.uniqueArray(nameArb, { minLength: count, maxLength: count }))
    const allowed = i < rescue && rescue < last ? detourNames.filter((detour) => !outcomes.includes(detour)) : []
    return [
      name,
      {
        does: `Row ${i}.`,
        outcomes: Object.fromEntries(outcomes.map((outcome, k) => [outcome, targets[i]?.[k] ?? end])),
        detours: g(() => fc.subarray([...allowed])),
      },
    ]
  })
  const table = { name: 'random', start: names[0] as string, end, stages: Object.fromEntries(rows) }
  return defineTable(rescue < last ? { ...table, rescue: names[rescue] as string } : table)
})

/** Every whole trace that `table` allows, detours included, found without the code under test. */
export function allTraces(table: StageTable): Step[][] {
  const found: Step[][] = []
  const walk = (stage: string, taken: Step[]) => {
    if (stage === table.end) {
      found.push(taken)
      return
    }
    const row = table.stages[stage] as StageRow
    for (const [outcome, next] of Object.entries(row.outcomes)) walk(next, [...taken, { stage, outcome }])
    for (const outcome of row.detours ?? []) walk(table.rescue as string, [...taken, { stage, outcome }])
  }
  walk(table.start, [])
  return found
}

/** A trace in one line. */
export function text(trace: readonly Step[]): string {
  return JSON.stringify(trace.map(({ stage, outcome }) => [stage, outcome]))
}
