import * as fs from '@sluice/fs'
import * as session from '@sluice/session'
import { memoryStorePlugin } from '@sluice/session'
import { type ProgramHandler, simWorld, worldPlugin } from '@sluice/testkit'
import * as search from '@sluice/tool-search'
import * as tools from '@sluice/tools'
import { Context } from 'cordis'
import { expect, test } from 'vitest'

/** One call with a ripgrep that does what the test says; without a handler its program is missing. */
async function withRipgrep(handler?: ProgramHandler, signal?: AbortSignal, tool = 'grep') {
  const world = simWorld({ autoAdvance: true, files: { '/proj/a.txt': 'x' } })
  if (handler) world.processes.on('rg', handler)
  const ctx = new Context()
  for (const plugin of [worldPlugin(world), memoryStorePlugin, session]) await ctx.plugin(plugin)
  await ctx.plugin(tools, { otherwise: 'allow' })
  for (const plugin of [fs, search]) await ctx.plugin(plugin)
  const own = await ctx.sessions.create({ cwd: '/proj' })
  const call = { id: 'c1', tool, arguments: tool === 'glob' ? { pattern: '*' } : { pattern: 'x', output: 'files' } }
  const { result } = await ctx.tools.execute({ session: own, call, ...(signal && { signal }) })
  const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return { outcome: result.outcome, text, world }
}

test('what cannot be read is said, and the rest is shown', async () => {
  const { text } = await withRipgrep(() => ({ stdout: '/proj/a.txt\0', code: 2 }))
  expect(text).toBe('a.txt\n[some files or folders could not be read]')
})

test('a file that is gone since it was found is not shown', async () => {
  expect((await withRipgrep(() => ({ stdout: '/proj/gone.txt\0/proj/a.txt\0' }))).text).toBe('a.txt')
  expect((await withRipgrep(() => ({ stdout: './gone.txt\0./a.txt\0' }), undefined, 'glob')).text).toBe('a.txt')
})

test('a ripgrep that is missing or fails is told with its reason', async () => {
  const missing = await withRipgrep()
  expect(missing.outcome).toMatchObject({ tag: 'failed', code: 'SEARCH_FAILED' })
  expect(missing.text).toMatch(/^The search failed: .*ENOENT/)
  const broken = await withRipgrep(() => ({ stderr: 'rg: no memory', code: 3 }))
  expect(broken.outcome).toMatchObject({ tag: 'failed', code: 'SEARCH_FAILED' })
  expect(broken.text).toBe('The search failed: no memory.')
  const killed = await withRipgrep(() => ({ signal: 'SIGKILL' }))
  expect(killed.text).toBe('The search failed: ripgrep ended with a signal.')
})

test.each([
  ['while ripgrep starts', (abort: () => void) => abort()],
  ['while it runs', (abort: () => void) => void setImmediate(abort)],
])('a search without end is ended by an abort %s, and no program is left', async (_, when) => {
  const controller = new AbortController()
  const { outcome, world } = await withRipgrep((_, program) => {
    program.stdout('/proj/a.txt\0')
    when(() => controller.abort(new Error('stop')))
  }, controller.signal)
  expect(outcome).toMatchObject({ tag: 'aborted' })
  expect(world.processes.alive).toEqual([])
})

test('a flood of paths is cut and the program is ended', async () => {
  const paths = Array.from({ length: search.CANDIDATES_MAX + 2 }, (_, index) => `/proj/f${index}\0`).join('')
  const { text, world } = await withRipgrep((_, program) => program.stdout(paths))
  expect(text).toMatch(/\[there are more files; narrow the search to see them\]$/)
  expect(world.processes.alive).toEqual([])
})

test('ripgrep gets nothing of the environment but where ignore files of the user are', async () => {
  const { world } = await withRipgrep(() => ({ code: 1 }))
  const [started] = world.processes.started
  expect(started?.options.env).toEqual({})
  expect(started?.options.args).toContain('--no-config')
})
