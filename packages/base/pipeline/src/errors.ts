/** Owns the failures of tables and of the stages that are run by them. */
import { defineErrors } from '@sluice/base'
import { flaws } from './flaws.ts'
import type { StageTable } from './table.ts'

export const pipelineErrors = defineErrors({
  PIPELINE_UNSOUND: {
    when: 'an executor is made for a table with flaws, or its ways are listed',
    message: (d: { table: string; flaws: readonly string[] }) =>
      `the table ${d.table} is unsound: ${d.flaws.join('; ')}`,
    remedy: 'Mend the table; flaws(table) lists what is wrong.',
  },
  PIPELINE_BAD_OUTCOME: {
    when: 'a stage answers with an outcome that is not in its row',
    message: (d: { stage: string; outcome: string }) =>
      `stage ${d.stage} answered ${d.outcome}, which is not in its row`,
    remedy: 'Answer with an outcome of the row, or add it to the table.',
  },
})

/** @throws PIPELINE_UNSOUND */
export function assertSound(table: StageTable): void {
  const wrong = flaws(table)
  if (wrong.length > 0) throw pipelineErrors('PIPELINE_UNSOUND', { table: table.name, flaws: wrong })
}
