/** Proves how calls inside a call are shown, while they happen and from the log. */
import * as agentPlugin from '@sluice/agent'
import * as llmPlugin from '@sluice/llm'
import * as sessionPlugin from '@sluice/session'
import { scriptedModel, simWorld, worldPlugin } from '@sluice/testkit'
import * as toolsPlugin from '@sluice/tools'
import { Context } from 'cordis'
import { expect, test } from 'vitest'
import { NESTED_MAX } from '../src/nested-text.ts'
import { exported } from '../src/export.ts'
import { showLive, showRecorded } from '../src/view.ts'
import { watchedTerminal } from './harness.ts'

const parameters = { type: 'object' }

/** What a person sees of a turn in which `program` makes calls, live and afterwards, without the times. */
async function shown(program: (run: toolsPlugin.Run) => Promise<unknown>) {
  const ctx = new Context()
  await ctx.plugin(worldPlugin(simWorld()))
  for (const plugin of [sessionPlugin.memoryStorePlugin, sessionPlugin, llmPlugin]) await ctx.plugin(plugin)
  await ctx.plugin(toolsPlugin, { otherwise: 'allow' })
  await ctx.plugin(agentPlugin)
  await ctx.plugin({
    name: 'some-tools',
    inject: ['tools'],
    apply({ tools }: Context) {
      tools.register({ name: 'look', description: 'Looks.', parameters, execute: () => 'much\ntext' })
      tools.register({
        name: 'touch',
        description: 'Touches.',
        parameters,
        presentCall: () => ({ v: 1, kind: 'generic', title: 'Touch the stone' }),
        execute: () => 'done',
      })
      tools.register({ name: 'deep', description: 'Looks.', parameters, execute: (_, run) => run.call('look', {}) })
      tools.register({ name: 'program', description: 'Runs.', parameters, execute: (_, run) => program(run) })
      tools.guard('no', ({ tool }) => (tool === 'touch' ? 'not yours' : undefined))
    },
  })
  const script = scriptedModel([{ calls: [{ name: 'program', args: {} }] }, 'over'])
  ctx.llm.register('script', script)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  const agent = ctx.agents.create({ session, model: 'script/any' })
  const [live, recorded] = [watchedTerminal('/'), watchedTerminal('/')]
  showLive(live, agent)
  await agent.send('go')
  showRecorded(recorded, session)
  const markdown = [...exported(session, 'markdown')].join('')
  await ctx.fiber.dispose()
  const lines = (text: string) =>
    text
      .split('\n')
      .filter((line) => /^ *[▸✔⊘✘…]| {4}/.test(line))
      .map((line) => line.replace(/(, )?\d+ ms/, '').replace(/ +\(\)$/, ''))
  return { live: lines(live.out), recorded: lines(recorded.out), markdown }
}

test('calls inside a call are shown under it, one line each, and why one was refused', async () => {
  const { live, recorded, markdown } = await shown(async (run) => {
    await run.call('deep', {})
    await run.call('touch', {}).catch(() => {})
    return 1
  })
  const inside = (refused: string) => [
    '    ✔ look: succeeded',
    '  ✔ deep: succeeded',
    `  ⊘ ${refused}`,
    '      not yours',
  ]
  const refused = inside('touch: denied  (by some-tools (guard no))')
  expect(live).toEqual(['▸ program', ...refused, '✔ program: succeeded', '    1'])
  const named = inside('Touch the stone  (denied by some-tools (guard no))')
  expect(recorded).toEqual(['✔ program: succeeded', '    1', ...named])
  const sections = markdown.replaceAll(/, \d+ ms|  \(\d+ ms\)/g, '')
  expect(sections).toContain('\n#### ✔ look: succeeded\n\n```\nmuch\ntext\n```\n')
  expect(sections.match(/^###+ .*/gm)).toEqual([
    '### ✔ program: succeeded',
    '#### ✔ look: succeeded',
    '#### ✔ deep: succeeded',
    '#### ⊘ Touch the stone  (denied by some-tools (guard no))',
  ])
})

test('of many calls inside a call the first are shown, and how many there were more', async () => {
  const { live, recorded } = await shown(async (run) => {
    for (let i = 0; i < NESTED_MAX + 5; i++) await run.call('look', {})
    return 1
  })
  const inside = [...Array<string>(NESTED_MAX).fill('  ✔ look: succeeded'), '  … 5 more calls']
  expect(live).toEqual(['▸ program', ...inside, '✔ program: succeeded', '    1'])
  expect(recorded).toEqual(['✔ program: succeeded', '    1', ...inside])
})
