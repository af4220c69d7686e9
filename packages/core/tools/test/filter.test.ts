/** Proves which tools an agent sees where more than restrictions decide: filters, tools for models only, nearest names. */
import { probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { soundBench } from './sound.ts'

// 13.3
it('a filter has the last word on what an agent sees, from when it is mounted until it goes', async () => {
  const bench = await soundBench()
  for (const name of ['a', 'b']) await bench.register(probeTool({ name }).definition)
  const names = (agent?: string) => bench.ctx.tools.visible(agent).map(({ name }) => name)
  expect([names(), names('main')]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
  const asked = new Set<string>()
  const filter = await bench.plugin('filter', (ctx) => {
    ctx.tools.filter((tool, agent, reach) => {
      asked.add(`${tool} ${agent} ${reach}`)
      return tool !== 'a' || agent !== 'main'
    })
  })
  expect([names(), names('main')]).toEqual([['a', 'b'], ['b']])
  expect([...asked].sort()).toEqual(['a main direct', 'a undefined direct', 'b main direct', 'b undefined direct'])
  const { result } = await bench.call('a', {}, { agent: 'main' })
  expect(result.outcome).toMatchObject({ tag: 'unknown-tool' })
  await filter.dispose()
  expect(names('main')).toEqual(['a', 'b'])
})

// 11.2
it('a tool that is not for nested calls is called by models only', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ name: 'run', nested: false }).definition)
  await bench.register(probeTool({ name: 'outer', body: (_args, run) => run.call('run', {}) }).definition)
  expect((await bench.call('run')).result.outcome.tag).toBe('succeeded')
  expect((await bench.call('outer')).result.outcome).toMatchObject({ tag: 'failed', code: 'TOOLS_NESTED_FAILED' })
  const seen = (reach: 'direct' | 'nested') => bench.ctx.tools.visible(undefined, reach).map(({ name }) => name)
  expect([seen('direct'), seen('nested')]).toEqual([['outer', 'run'], ['outer']])
})

// 2.6
it('an unknown name is answered with the nearest ones, those equally near in their order', async () => {
  const bench = await soundBench()
  for (const name of ['catc', 'abcate', 'catb', 'cat']) await bench.register(probeTool({ name }).definition)
  const { result } = await bench.call('cate')
  expect(result.outcome).toMatchObject({ tag: 'unknown-tool', nearest: ['cat', 'catb', 'catc'] })
})
