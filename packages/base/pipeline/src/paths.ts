/** Owns the ways through a table, from which tests are generated. */
import { assertSound } from './errors.ts'
import { rowOf, type StageTable } from './table.ts'
import type { Step } from './trace.ts'

/** How many paths a table may have before listing them all is refused. */
export const PATHS_MAX = 10_000

/** Every way from start to end by outcomes (detours left out), each as its steps.
 *  @throws PIPELINE_UNSOUND, or RangeError for a table with more than {@link PATHS_MAX} of them */
export function paths(table: StageTable): Step[][] {
  assertSound(table)
  const found: Step[][] = []
  const walk = (stage: string, taken: Step[]) => {
    if (stage === table.end) {
      if (found.length >= PATHS_MAX) throw new RangeError(`the table ${table.name} has more than ${PATHS_MAX} paths`)
      found.push(taken)
      return
    }
    for (const [outcome, next] of Object.entries(rowOf(table, stage)?.outcomes ?? {}))
      walk(next, [...taken, { stage, outcome }])
  }
  walk(table.start, [])
  return found
}

/** Every detour with the shortest way to its stage: `path` leads to the stage, `step` is the detour itself.
 *  @throws PIPELINE_UNSOUND */
export function detours(table: StageTable): { readonly path: Step[]; readonly step: Step }[] {
  assertSound(table)
  const shortest = new Map<string, Step[]>([[table.start, []]])
  const open = [table.start]
  for (let stage = open.shift(); stage !== undefined; stage = open.shift()) {
    for (const [outcome, next] of Object.entries(rowOf(table, stage)?.outcomes ?? {})) {
      if (shortest.has(next) || next === table.end) continue
      shortest.set(next, [...(shortest.get(stage) ?? []), { stage, outcome }])
      open.push(next)
    }
  }
  return Object.entries(table.stages).flatMap(([stage, row]) =>
    (row.detours ?? []).map((outcome) => ({ path: shortest.get(stage) ?? [], step: { stage, outcome } })),
  )
}
