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

/** A quoted label of one or more lines, whatever they hold. */
export function mermaidLabel(lines: readonly string[]): string {
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

interface Edge {
  readonly from: string
  readonly arrow: '-->' | '-.->'
  readonly to: string
  readonly outcomes: readonly string[]
}

/** Outcomes that lead to the same place share an edge. */
function edgesOf(table: StageTable): Edge[] {
  return Object.entries(table.stages).flatMap(([from, row]): Edge[] => {
    const byTarget = new Map<string, string[]>()
    for (const [outcome, to] of Object.entries(row.outcomes)) byTarget.set(to, [...(byTarget.get(to) ?? []), outcome])
    const edges = [...byTarget].map(([to, outcomes]): Edge => ({ from, arrow: '-->', to, outcomes }))
    if (!row.detours?.length || table.rescue === undefined) return edges
    return [...edges, { from, arrow: '-.->', to: table.rescue, outcomes: row.detours }]
  })
}

const THICK = 'stroke-width:4px'

/** A flowchart of `table`: outcomes as solid edges, detours dotted, in each stage what it writes. `live(stage)` gives lines to
 *  show inside a stage, `taken(stage, outcome)` what to show beside an outcome that something took: its edge and its stages are
 *  drawn thick. */
export function toMermaid(
  table: StageTable,
  live: (stage: string) => readonly string[] = () => [],
  taken: (stage: string, outcome: string) => string | undefined = () => undefined,
): string {
  const ids = idsOf(table)
  const lines = ['flowchart TD']
  for (const [stage, row] of Object.entries(table.stages)) {
    const head = row.opened ? [stage, `${row.opened.kind} ${row.opened.name}`] : [stage]
    const writes = row.writes?.length ? [`writes ${row.writes.join(', ')}`] : []
    lines.push(`  ${ids.get(stage)}[${mermaidLabel([...head, ...live(stage), ...writes])}]`)
  }
  lines.push(`  finish([${mermaidLabel([table.end])}])`)
  const thickEdges: number[] = []
  const thickNodes = new Set<string>()
  for (const [index, { from, arrow, to, outcomes }] of edgesOf(table).entries()) {
    const marks = outcomes.map((outcome) => taken(from, outcome))
    const words = outcomes.map((outcome, at) => (marks[at] === undefined ? outcome : `${outcome} (${marks[at]})`))
    lines.push(`  ${ids.get(from)} ${arrow}|${mermaidLabel([words.join(', ')])}| ${ids.get(to)}`)
    if (marks.every((mark) => mark === undefined)) continue
    thickEdges.push(index)
    thickNodes.add(ids.get(from) ?? '').add(ids.get(to) ?? '')
  }
  if (thickEdges.length > 0) {
    lines.push(`  linkStyle ${thickEdges.join(',')} ${THICK}`)
    lines.push(`  classDef taken ${THICK}`, `  class ${[...thickNodes].join(',')} taken`)
  }
  return `${lines.join('\n')}\n`
}
