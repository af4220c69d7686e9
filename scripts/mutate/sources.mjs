/** Owns which files are mutated, and by which tests they are judged. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mutantsOf } from './mutants.mjs'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const packages = ['packages/core/tools', 'packages/base/listeners', 'packages/base/pipeline']
/** What the life of a call needs of another package, with the tests of it. */
const besides = {
  src: ['fit.ts', 'json.ts', 'promise.ts', 'text.ts'].map((name) => `packages/base/base/src/${name}`),
  test: ['fit.test.ts', 'json.test.ts'].map((name) => `packages/base/base/test/${name}`),
}
/** Words only: no guard stands in them. */
const left = new Set(['types.ts', 'errors.ts', 'prompt.ts', 'index.ts'])
/** Long runs, and type tests, which the compiler judges. */
const apart = new Set(['batches.sim.test.ts', 'types.test.ts'])

function filesOf(folder, keep) {
  const names = readdirSync(join(root, folder)).filter(keep).sort()
  return names.map((name) => `${folder}/${name}`)
}

export function tests() {
  const own = (folder) => filesOf(`${folder}/test`, (name) => name.endsWith('.test.ts') && !apart.has(name))
  return [...packages.flatMap(own), ...besides.test]
}

/** Every mutant, and by file the text with all of its switches. */
export function allMutants() {
  const mutants = []
  const texts = new Map()
  const own = (folder) => filesOf(`${folder}/src`, (name) => name.endsWith('.ts') && !left.has(name))
  for (const file of [...packages.flatMap(own), ...besides.src]) {
    const made = mutantsOf(file, readFileSync(join(root, file), 'utf8'), mutants.length)
    mutants.push(...made.mutants)
    texts.set(join(root, file), made.text)
  }
  return { mutants, texts }
}
