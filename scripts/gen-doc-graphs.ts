/** Owns `pnpm gen-doc-graphs`: prints the reference of a composition, or checks that it is printed. */
import { genDocGraphs } from './docs/reference.ts'

process.exitCode = await genDocGraphs(
  process.argv.slice(2),
  (text) => void process.stdout.write(`${text}\n`),
  (text) => void process.stderr.write(`${text}\n`),
)
