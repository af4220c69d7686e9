import { scriptedModel } from '@sluice/testkit'
import { forAgent } from '@sluice/tools'
import { afterEach, expect, test } from 'vitest'
import { makeBench, valueOf } from './kit.ts'

type Bench = Awaited<ReturnType<typeof makeBench>>
type Mode = 'native' | 'code' | 'both'
let bench: Bench
afterEach(() => bench.ctx.fiber.dispose())

const setMode = (agent: string, mode: Mode, name = `${agent} ${mode}`) =>
  bench.ctx.plugin({ name, inject: ['codeMode'], apply: (own: Bench['ctx']) => void own.codeMode.set(agent, mode) })
const names = (agent?: string, reach?: 'direct' | 'nested') =>
  bench.ctx.tools.visible(agent, reach).map(({ name }) => name)
const directly = async (agent: string, tool: string) => {
  const call = { id: `d-${agent}-${tool}`, tool, arguments: tool === 'run_code' ? { program: 'return 1' } : {} }
  return (await bench.ctx.tools.execute({ session: bench.session, agent, call })).result.outcome.tag
}

// 4.4
test('in mode code only run_code can be called directly, and programs reach every tool', async () => {
  bench = await makeBench()
  await bench.tool({ name: 'probe', execute: () => 'ran' })
  await setMode('main', 'code')
  expect(names('main')).toEqual(['run_code'])
  expect(names('main/child')).toEqual(['run_code'])
  expect(await directly('main', 'probe')).toBe('unknown-tool')
  expect(valueOf(await bench.program('return await tools.probe({})', { agent: 'main' }))).toBe('ran')
})

// 4.4
test('in mode code a tool that is registered for the agent alone is no exception', async () => {
  bench = await makeBench()
  await setMode('main', 'code')
  await bench.plugin('own', (own) => {
    forAgent(own, 'main').tools.register({
      name: 'mine',
      description: 'A tool.',
      parameters: { type: 'object' },
      execute: () => 'ran',
    })
  })
  expect(names('main')).toEqual(['run_code'])
  expect(await directly('main', 'mine')).toBe('unknown-tool')
  expect(valueOf(await bench.program('return await tools.mine({})', { agent: 'main' }))).toBe('ran')
})

// 4.4
test('in mode native there is no run_code', async () => {
  bench = await makeBench()
  await bench.tool({ name: 'probe', execute: () => 'ran' })
  await setMode('main', 'native')
  expect(names('main')).toEqual(['probe'])
  expect(await directly('main', 'run_code')).toBe('unknown-tool')
  expect(await directly('main', 'probe')).toBe('succeeded')
  expect([bench.ctx.codeMode.modeOf('main'), bench.ctx.codeMode.modeOf('other')]).toEqual(['native', 'both'])
})

// 4.4
test.each([
  ['code', ['run_code']],
  ['native', ['probe']],
  ['both', ['probe', 'run_code']],
] as const)('mode %s of the configuration counts for agents for which none is set', async (mode, visible) => {
  bench = await makeBench({ mode })
  await bench.tool({ name: 'probe', execute: () => 'ran' })
  await setMode('main/helper', mode === 'native' ? 'code' : 'native')
  expect(names('main')).toEqual(visible)
  expect(names('main/other')).toEqual(visible)
  expect(names('main/helper')).toEqual(mode === 'native' ? ['run_code'] : ['probe'])
  expect(names('main', 'nested')).toEqual(['probe'])
})

// 4.1, 4.4
test('the system prompt declares what programs of the agent can use, where it has run_code', async () => {
  bench = await makeBench()
  await bench.tool({ name: 'probe', execute: () => 'ran' })
  await setMode('plain', 'native')
  const script = scriptedModel([{ text: 'hi' }, { text: 'hi' }])
  bench.ctx.llm.register('script', script)
  for (const name of ['main', 'plain']) {
    const session = await bench.ctx.sessions.create({ cwd: '/proj' })
    await bench.ctx.agents.create({ session, name, model: 'script/any' }).send('hello')
  }
  const [main, plain] = script.requests.map(({ system }) => system)
  expect(main).toContain(bench.ctx.codeMode.declarations('main'))
  expect(plain).not.toContain('declare const tools')
})

// 4.1
test('what is declared for an agent is what its programs can call', async () => {
  bench = await makeBench()
  await bench.tool({ name: 'a', execute: () => 1 })
  await bench.tool({ name: 'b', execute: () => 1 })
  await bench.plugin('narrow', (own) => void own.tools.restrict('main', { deny: ['b'] }))
  expect(bench.ctx.codeMode.declarations('main')).toContain('  a(args')
  expect(bench.ctx.codeMode.declarations('main')).not.toContain('  b(args')
  expect(valueOf(await bench.program('return Object.keys(tools)', { agent: 'main' }))).toEqual(['a'])
})

test('the mode of an agent is set by one plugin and goes with it', async () => {
  bench = await makeBench()
  await bench.tool({ name: 'probe', execute: () => 'ran' })
  const first = await setMode('main', 'code')
  await expect(setMode('main', 'code', 'second')).rejects.toMatchObject({ code: 'CODE_MODE_TAKEN' })
  expect(names('main')).toEqual(['run_code'])
  await first.dispose()
  expect(bench.ctx.codeMode.modeOf('main')).toBe('both')
  expect(names('main')).toEqual(['probe', 'run_code'])
})

test('unloading leaves no tool, no service and no prompt section', async () => {
  bench = await makeBench({ mode: 'code' })
  await bench.tool({ name: 'probe', execute: () => 'ran' })
  expect(names('main')).toEqual(['run_code'])
  await bench.fiber.dispose()
  expect(names('main')).toEqual(['probe'])
  expect(bench.ctx.get('codeMode')).toBeUndefined()
})
