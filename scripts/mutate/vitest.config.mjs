/** Owns how mutated runs are loaded: sources with switches, tests with the stand-in for vitest. */
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { allMutants, root } from './sources.mjs'

const { texts } = allMutants()
const shim = join(root, 'scripts/mutate/shim.mjs')

export default defineConfig({
  root,
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      resolveId: (id, importer) => (id === 'vitest' && importer?.includes('/packages/') ? shim : undefined),
      load: (id) => texts.get(id.split('?')[0]),
    },
  ],
  test: {
    include: ['scripts/mutate/judge.mutant.ts'],
    pool: 'forks',
    maxWorkers: 1,
    dangerouslyIgnoreUnhandledErrors: true,
  },
})
