import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

function start(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const program = fileURLToPath(new URL('start.ts', import.meta.url))
  const { PATH, HOME, TMPDIR } = process.env
  return new Promise((resolve) => {
    const args = ['--import', 'tsx', program, ...argv]
    const child = execFile(
      process.execPath,
      args,
      { env: { PATH, HOME, TMPDIR }, timeout: 170_000 },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

test('the coding agent finds and fixes the bug, and the run passes its own checks', { timeout: 180_000 }, async () => {
  const { code, stdout, stderr } = await start()
  const folder = /^Working folder: (.*)$/m.exec(stdout)?.[1]
  onTestFinished(async () => {
    if (folder) await rm(dirname(folder), { recursive: true, force: true })
  })
  expect({ code, stderr, stdout }).toMatchObject({ code: 0, stderr: '' })
  expect(stdout).toContain('the model is a script')
  expect(stdout).not.toContain('✘ the')
  for (const check of ['the tests pass', 'only src/split.js has changed', 'the model recovered'])
    expect(stdout).toContain(check)
  const log = await readFile(/Session log: (.*)/.exec(stdout)?.[1] ?? '', 'utf8')
  expect(log.trim().split('\n').at(-1)).toContain('"turn/ended"')
})

test('a task of the user without a key says what is needed', { timeout: 100_000 }, async () => {
  const { code, stderr } = await start('tidy up', '--cwd', '.')
  expect(code).toBe(2)
  expect(stderr).toContain('DEEPSEEK_API_KEY')
})

test('a wrong option is a usage error', { timeout: 100_000 }, async () => {
  expect(await start('--fly')).toMatchObject({ code: 2, stdout: '' })
})
