/** Owns a process that writes a session until it is killed, and says which events are acknowledged. */
import * as sessionPlugin from '@sluice/session'
import { nodeWorld } from '@sluice/world-node'
import { Context } from 'cordis'
import { jsonlStore } from '../src/index.ts'

const [root = '', mode = ''] = process.argv.slice(2)
const world = nodeWorld()
const ctx = new Context()
ctx.provide('world', world)
ctx.provide('sessionStore', jsonlStore(world, root))
await ctx.plugin(sessionPlugin)
const { sessions } = ctx
const session = mode === 'create' ? await sessions.create({ cwd: '/proj', id: 's' }) : await sessions.open('s')
const APPENDS_MAX = 100_000
for (let i = 0; i < APPENDS_MAX; i++) {
  const id = `c${session.events.length}`
  const part = { type: 'tool-call', id, name: 'probe', argumentsText: '{}' } as const
  session.append('assistant/message', { content: [part], finish: 'tool-calls', model: 'test/model' })
  const text = 'x'.repeat((i * 997) % 5_000)
  session.append('user/message', { content: [{ type: 'text', text }], source: 'user' })
  if (i % 7 === 0) await session.putBlob(Buffer.from(`blob ${session.events.length}`), { mediaType: 'text/plain' })
  const last = session.events.length - 1
  await session.durable()
  process.stdout.write(`${last}\n`)
}
