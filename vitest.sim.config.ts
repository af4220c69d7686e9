import { defineConfig } from 'vitest/config'

/** The long runs: simulations with more seeds, and everything that is too slow for each check. */
export default defineConfig({
  test: {
    include: ['packages/*/*/test/**/*.sim.test.ts', 'packages/*/*/test/**/*.slow.test.ts'],
    setupFiles: ['scripts/check/every-trace.ts'],
    testTimeout: 600_000,
    passWithNoTests: true,
  },
})
