/** Owns the soundness of a table: says in words what is wrong with it. */
import { rowOf, type StageRow, type StageTable } from './table.ts'

const detourNames = new Set(['threw', 'expired', 'aborted'])

function edgesOf(table: StageTable, stage: string): string[] {
  const row = rowOf(table, stage)
  if (!row) return []
  const edges = Object.values(row.outcomes)
  if (row.detours?.length && table.rescue !== undefined) edges.push(table.rescue)
  return edges
}

/** Every stage that a walk from `from` can meet. */
function reached(table: StageTable, from: string): Set<string> {
  const seen = new Set<string>()
  const open = [from]
  for (let stage = open.pop(); stage !== undefined; stage = open.pop()) {
    if (seen.has(stage)) continue
    seen.add(stage)
    open.push(...edgesOf(table, stage))
  }
  return seen
}

function rowFlaws(table: StageTable, stage: string, row: StageRow): string[] {
  const found: string[] = []
  if (Object.keys(row.outcomes).length === 0) found.push(`stage ${stage} has no outcome`)
  for (const [outcome, target] of Object.entries(row.outcomes)) {
    if (target !== table.end && !rowOf(table, target))
      found.push(`${stage}: ${outcome} leads to ${target}, which is no stage`)
    if (detourNames.has(outcome) && row.detours?.includes(outcome as never))
      found.push(`${stage}: ${outcome} is both an outcome and a detour`)
  }
  for (const answer of row.answers ?? [])
    if (!Object.hasOwn(row.outcomes, answer))
      found.push(`${stage}: a listener may answer ${answer}, which is no outcome`)
  if (row.failsAs !== undefined && !row.detours?.length) found.push(`${stage}: says how it fails, but has no detours`)
  if (row.detours?.length && table.rescue === undefined) found.push(`${stage} has detours, but the table has no rescue`)
  return found
}

function cycleFlaws(table: StageTable): string[] {
  for (const stage of Object.keys(table.stages))
    if (edgesOf(table, stage).some((next) => next !== table.end && reached(table, next).has(stage)))
      return [`stage ${stage} can lead back to itself`]
  return []
}

/** What is wrong with `table`, in words; empty for a sound one. */
export function flaws(table: StageTable): string[] {
  const found: string[] = []
  if (!rowOf(table, table.start)) found.push(`the start ${table.start} is no stage`)
  if (rowOf(table, table.end)) found.push(`the end ${table.end} is a stage`)
  for (const [stage, row] of Object.entries(table.stages)) found.push(...rowFlaws(table, stage, row))
  const met = reached(table, table.start)
  for (const stage of Object.keys(table.stages)) if (!met.has(stage)) found.push(`stage ${stage} is never reached`)
  if (table.rescue !== undefined) {
    if (!rowOf(table, table.rescue)) found.push(`the rescue ${table.rescue} is no stage`)
    else if (!reached(table, table.rescue).has(table.end))
      found.push(`the rescue ${table.rescue} does not lead to the end`)
    if (rowOf(table, table.rescue)?.detours?.length) found.push(`the rescue ${table.rescue} would rescue itself`)
  }
  found.push(...cycleFlaws(table))
  return found
}
