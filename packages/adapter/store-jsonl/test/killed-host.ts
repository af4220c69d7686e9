/** Owns a host whose agent works until it is killed; it prints each event that it writes and each promise that it gets. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import * as agentPlugin from '@sluice/agent'
import * as approvalPlugin from '@sluice/approval'
import * as fsPlugin from '@sluice/fs'
import * as llmPlugin from '@sluice/llm'
import type { StreamPart } from '@sluice/llm'
import * as sessionPlugin from '@sluice/session'
import { worldPlugin } from '@sluice/testkit'
import * as toolFsPlugin from '@sluice/tool-fs'
import * as toolShellPlugin from '@sluice/tool-shell'
import * as toolsPlugin from '@sluice/tools'
import { nodeWorld } from '@sluice/world-node'
import { Context, type Plugin } from 'cordis'
import { jsonlStore } from '../src/index.ts'
import { mountProgram, watched } from './turn-machine.ts'

const TURNS_MAX = 10_000

const [root = '', id = '', life = '', folder = ''] = process.argv.slice(2)
const tell = (...words: (string | number)[]) => process.stdout.write(`${words.join(' ')}\n`)
tell('ready')
const world = nodeWorld()
const ctx = new Context()
const digest = (event: unknown) => createHash('sha256').update(JSON.stringify(event)).digest('hex')
ctx.provide(
  'sessionStore',
  watched(jsonlStore(world, root), {
    written: (event) => tell('written', event.seq, digest(event)),
    acknowledged: (seq) => tell('acknowledged', seq),
  }),
)
await ctx.plugin(worldPlugin(world))
for (const plugin of [sessionPlugin, llmPlugin]) await ctx.plugin(plugin as Plugin)
await ctx.plugin(toolsPlugin, { otherwise: 'allow' })
for (const plugin of [approvalPlugin, fsPlugin, toolFsPlugin, toolShellPlugin, agentPlugin]) {
  await ctx.plugin(plugin as Plugin)
}
await ctx.plugin({
  name: 'own-tools',
  inject: ['tools', 'approval'],
  apply: (own) => mountProgram(own, (_, run) => run.call('bash', { command: line(`${run.callId}-nested`) })),
})

/** A shell command that leaves its mark, so that a second run shows. */
const line = (mark: string) => `echo ${mark} >> ledger`

let requests = 0
async function* stream(): AsyncGenerator<StreamPart> {
  requests++
  if (requests % 2 === 0) {
    yield { type: 'text', text: 'done' }
    yield { type: 'finish', reason: 'stop' }
    return
  }
  const call = (name: string, args: object): StreamPart => {
    const mark = `${life}-${requests}-${name}-${made++}`
    return { type: 'tool-call', id: mark, name, argumentsText: JSON.stringify(args).replaceAll('MARK', mark) }
  }
  let made = 0
  yield call('edit', { path: join(folder, 'edited'), edits: [{ oldText: 'end', newText: 'MARK\nend' }] })
  yield call('bash', { command: `${line('MARK')}; setsid sleep 100 & sleep 0.01` })
  yield call('bash', { command: `${line('MARK')}; sleep 0.05`, background: true })
  yield call('program', {})
  yield { type: 'finish', reason: 'tool-calls' }
}

ctx.llm.register('endless', { stream })
const { sessions } = ctx
const session = life === '0' ? await sessions.create({ cwd: folder, id }) : await sessions.open(id)
const agent = ctx.agents.create({ session, model: 'endless/one' })
for (let turn = 0; turn < TURNS_MAX; turn++) {
  const { reason, detail } = await agent.send('go')
  if (reason !== 'completed') throw new Error(`the turn ended ${reason}: ${detail}`)
}
