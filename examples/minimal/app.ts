/** A complete agent app: one tool, one hook plugin, one turn; it checks itself. */
import assert from 'node:assert/strict'
import * as agent from '@sluice/agent'
import * as llm from '@sluice/llm'
import * as session from '@sluice/session'
import { scriptedModel } from '@sluice/testkit'
import * as tools from '@sluice/tools'
import * as world from '@sluice/world-node'
import { Context } from 'cordis'
import { Type } from 'typebox'

/** A tool: it is there for as long as the plugin is mounted. */
const dice = (ctx: Context) =>
  ctx.tools.register<{ sides: number }>({
    name: 'roll',
    description: 'Rolls a die.',
    parameters: Type.Object({ sides: Type.Integer({ minimum: 2 }) }),
    execute: ({ sides }) => `rolled a die of ${sides}: ${1 + Math.floor(ctx.world.random.float() * sides)}`,
  })
/** A hook: it sees each call before it runs, and may refuse it. */
const fairPlay = (ctx: Context) =>
  ctx.on('tools/pre-execute', (call, next) =>
    Number(call.args.sides) > 6 ? { kind: 'deny', reason: 'only ordinary dice are fair' } : next(),
  )

const ctx = new Context()
for (const plugin of [world, session.memoryStorePlugin, session, llm, agent]) await ctx.plugin(plugin)
// Nobody is here to be asked, so what no plugin objects to is allowed.
await ctx.plugin(tools, { otherwise: 'allow' })
await ctx.plugin({ name: 'dice', inject: ['tools', 'world'], apply: dice })
await ctx.plugin({ name: 'fair-play', apply: fairPlay })

// The model is a script here; @sluice/llm-ai-sdk mounts a real one.
const roll = (sides: number) => ({ calls: [{ name: 'roll', args: { sides } }] })
const last = ({ messages }: llm.ModelRequest) => JSON.stringify(messages.at(-1)?.content)
ctx.llm.register(
  'script',
  scriptedModel([roll(20), roll(6), (request) => `I ${/rolled.*?\d+: \d/.exec(last(request))}.`]),
)

const turn = await ctx.agents
  .create({ session: await ctx.sessions.create({ cwd: '/' }), model: 'script/any' })
  .send('Roll a big die, or else an ordinary one.')
console.log(turn.text)
assert.match(turn.text, /^I rolled a die of 6: [1-6]\.$/)
assert.equal(turn.denied.length, 1)
await ctx.fiber.dispose()
