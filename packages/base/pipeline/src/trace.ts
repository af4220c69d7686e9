/** Owns the check of a trace against its table. */
import { nextOf, type StageTable } from './table.ts'

/** One step that was taken. Further fields are the executor's own. */
export interface Step {
  readonly stage: string
  /** An outcome of the stage, or a detour. */
  readonly outcome: string
}

export interface BadStep {
  /** Index in the trace; its length when the trace stops early. */
  readonly index: number
  readonly problem: string
}

/** The first step that the table does not allow; `undefined` for a trace that walks from start to end. */
export function firstBadStep(table: StageTable, trace: readonly Step[]): BadStep | undefined {
  let expected = table.start
  for (const [index, step] of trace.entries()) {
    if (expected === table.end) return { index, problem: `a step after the end: ${step.stage}` }
    if (step.stage !== expected) return { index, problem: `${step.stage} instead of ${expected}` }
    const next = nextOf(table, step.stage, step.outcome)
    if (next === undefined) return { index, problem: `${step.stage} has no outcome ${step.outcome}` }
    expected = next
  }
  return expected === table.end ? undefined : { index: trace.length, problem: `the trace stops before ${expected}` }
}
