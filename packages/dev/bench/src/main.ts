/** Runs the benchmarks and prints one table of ratios. `--only T1,T8` picks; `--check` fails at twice a target. */
import { codeCases } from './cases/code.ts'
import { fileCases } from './cases/files.ts'
import { jsonCases } from './cases/json.ts'
import { appendCases } from './cases/appends.ts'
import { longSessionCases } from './cases/long-sessions.ts'
import { pipelineCases } from './cases/pipeline.ts'
import { type Measured, measure } from './measure.ts'

const cases = [...pipelineCases, ...appendCases, ...longSessionCases, ...jsonCases, ...codeCases, ...fileCases]
const only = process.argv
  .find((arg) => arg.startsWith('--only='))
  ?.slice(7)
  .split(',')
const wanted = cases.filter((bench) => !only || only.includes(bench.id))
const measured: Measured[] = []
for (const bench of wanted) {
  process.stderr.write(`${bench.id} ${bench.what}\n`)
  measured.push(await measure(bench))
}

const us = (value: number) => (value < 10 ? value.toFixed(2) : value.toFixed(0))
const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
console.log(`Node ${process.version}; medians of interleaved rounds, µs per unit.\n`)
console.log(row(['#', 'What', 'Floor', 'Ours', 'Ratio', 'Target']))
console.log(row(['---', '---', '---:', '---:', '---:', '---']))
for (const m of measured) {
  const target = m.target === undefined ? m.note : `≤ ${m.target}`
  console.log(row([m.id, m.what, us(m.floorUs), us(m.oursUs), m.ratio.toFixed(2), target]))
}

const missed = measured.filter((m) => m.target !== undefined && m.ratio > 2 * m.target)
if (process.argv.includes('--check') && missed.length > 0) {
  console.error(`\nmore than twice the target: ${missed.map((m) => m.id).join(', ')}`)
  process.exit(1)
}
process.exit(0)
