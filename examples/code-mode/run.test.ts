import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('one program does the work of forty-six model requests, and survives a denied call', async () => {
  const app = fileURLToPath(new URL('app.ts', import.meta.url))
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', 'tsx', app], { timeout: 60_000 })
  expect(stdout).toContain('total 8200, reminded invoice-07.txt, invoice-19.txt, invoice-33.txt')
  expect(stdout).toContain('45 calls in 2 model requests; one call a request would have taken 46: 44 saved')
  expect(stderr).toBe('')
}, 90_000)
