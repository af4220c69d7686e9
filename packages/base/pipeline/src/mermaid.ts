/** Owns the drawing of a table as a Mermaid flowchart. */
import type { StageTable } from './table.ts'

/** Characters that would end a label, start markup or an entity in it, as Mermaid's own entities. */
const entities: Readonly<Record<string, string>> = {
  '&': 'amp',
  '"': 'quot',
  '<': 'lt',
  '>': 'gt',
  '#': '35',
  '`': '96',
}

function label(lines: readonly string[]): string {
  const escaped = lines.map((line) =>
    line.replaceAll(/[\s\p{C}]+/gu, ' ').replaceAll(/[&"<>#`]/g, (character) => `#${entities[character]};`),
  )
  return `"${escaped.join('<br/>')}"`
}

/** Node ids are positions: a stage may have any name. */
function idsOf(table: StageTable): Map<string, string> {
  const ids = new Map<string, string>()
  for (const stage of Object.keys(table.stages)) ids.set(stage, `s${ids.size}`)
  ids.set(table.end, 'finish')
  return ids
}

/** A flowchart of `table`: outcomes as solid edges, detours dotted. `live(stage)` gives lines to show inside a stage. */
export function toMermaid(table: StageTable, live: (stage: string) => readonly string[] = () => []): string {
  const ids = idsOf(table)
  const lines = ['flowchart TD']
  for (const [stage, row] of Object.entries(table.stages)) {
    const head = row.opened ? [stage, `${row.opened.kind} ${row.opened.name}`] : [stage]
    lines.push(`  ${ids.get(stage)}[${label([...head, ...live(stage)])}]`)
  }
  lines.push(`  finish([${label([table.end])}])`)
  for (const [stage, row] of Object.entries(table.stages)) {
    const byTarget = new Map<string, string[]>()
    for (const [outcome, target] of Object.entries(row.outcomes))
      byTarget.set(target, [...(byTarget.get(target) ?? []), outcome])
    for (const [target, outcomes] of byTarget)
      lines.push(`  ${ids.get(stage)} -->|${label([outcomes.join(', ')])}| ${ids.get(target)}`)
    if (row.detours?.length && table.rescue !== undefined)
      lines.push(`  ${ids.get(stage)} -.->|${label([row.detours.join(', ')])}| ${ids.get(table.rescue)}`)
  }
  return `${lines.join('\n')}\n`
}
