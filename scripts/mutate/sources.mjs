/** Owns which files are mutated, and by which tests they are judged. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mutantsOf } from './mutants.mjs'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const packages = ['packages/core/tools', 'packages/base/listeners', 'packages/base/pipeline']
/** Words only: no guard stands in them. */
const left = new Set(['types.ts', 'errors.ts', 'prompt.ts', 'index.ts'])
/** Long runs, and type tests, which the compiler judges. */
const apart = new Set(['batches.sim.test.ts', 'types.test.ts'])

function filesOf(folder, keep) {
  const names = readdirSync(join(root, folder)).filter(keep).sort()
  return names.map((name) => `${folder}/${name}`)
}

export function tests() {
  return packages.flatMap((folder) =>
    filesOf(`${folder}/test`, (name) => name.endsWith('.test.ts') && !apart.has(name)),
  )
}

/** Every mutant, and by file the text with all of its switches. */
export function allMutants() {
  const mutants = []
  const texts = new Map()
  for (const folder of packages)
    for (const file of filesOf(`${folder}/src`, (name) => name.endsWith('.ts') && !left.has(name))) {
      const made = mutantsOf(file, readFileSync(join(root, file), 'utf8'), mutants.length)
      mutants.push(...made.mutants)
      texts.set(join(root, file), made.text)
    }
  return { mutants, texts }
}
