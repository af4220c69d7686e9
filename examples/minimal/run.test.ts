import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('the minimal app runs one turn, refuses one call and exits by itself', { timeout: 100_000 }, async () => {
  const app = fileURLToPath(new URL('app.ts', import.meta.url))
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', 'tsx', app], { timeout: 90_000 })
  expect(stdout).toMatch(/^I rolled a die of 6: [1-6]\.\n$/)
  expect(stderr).toBe('')
})
