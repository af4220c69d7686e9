import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/*/test/**/*.test.ts', 'examples/*/*.test.ts', 'scripts/test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*.slow.test.ts'],
    setupFiles: ['scripts/check/every-trace.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    maxWorkers: 2,
    // Modules are shared between files: importing them again would take most of the time.
    pool: 'forks',
    isolate: false,
  },
})
