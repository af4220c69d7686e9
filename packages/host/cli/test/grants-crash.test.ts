/** Proves that a crash at any moment of an answer "always" leaves the grant whole or not there, and never a wider one. */
import * as approvalPlugin from '@sluice/approval'
import * as permissions from '@sluice/permissions'
import { grants } from '@sluice/permissions'
import * as sessionPlugin from '@sluice/session'
import type { Session } from '@sluice/session'
import * as storePlugin from '@sluice/store-jsonl'
import { everyCrash, type ProbeTool, probeTool, type SimWorld } from '@sluice/testkit'
import * as toolsPlugin from '@sluice/tools'
import { Context } from 'cordis'
import { expect, test } from 'vitest'
import { machine } from './recorded.ts'

/** A host on `world`, whose person takes what is offered, or says no. */
async function host(world: SimWorld, says: 'always' | 'no') {
  const ctx = new Context()
  ctx.provide('world', world)
  let asked = 0
  await ctx.plugin(storePlugin, {})
  for (const plugin of [sessionPlugin, toolsPlugin, approvalPlugin, permissions]) await ctx.plugin(plugin)
  const probe = probeTool({ specifier: ({ path }) => path as string })
  ctx.tools.register(probe.definition)
  ctx.approval.answerer('person', ({ callId, asks }) => {
    asked++
    const [offer] = asks.flatMap(({ offers = [] }) => offers)
    return says === 'no' ? { callId, kind: 'reject' } : { callId, kind: 'allow-once', offer: offer?.id as string }
  })
  let count = 0
  const isAsked = async (session: Session, path: string) => {
    const before = asked
    const call = { id: `${says}-${++count}`, tool: 'probe', arguments: { path } }
    const { result } = await ctx.tools.execute({ session, call })
    expect(result.outcome.tag).toBe(asked > before ? 'denied' : 'succeeded')
    return asked > before
  }
  return { ctx, probe, isAsked }
}

// policy.md 1.4, session-log 5.2
test('after a crash at any moment a grant is there exactly when its event is, and before the body has begun', async () => {
  let probe: ProbeTool | undefined
  const seen = new Set<boolean>()
  const states = await everyCrash({
    make: machine,
    async act(world) {
      const { ctx, probe: own } = await host(world, 'always')
      probe = own
      const session = await ctx.sessions.create({ cwd: '/proj', id: 's' })
      await ctx.tools.execute({ session, call: { id: 'c', tool: 'probe', arguments: { path: 'a' } } })
      await session.close()
    },
    async check(world) {
      const { ctx, isAsked } = await host(world, 'no')
      const list = await ctx.sessions.list()
      if (list.length === 0) return
      for (let life = 0; life < 2; life++) {
        const session = await ctx.sessions.open('s')
        const written = session.events.flatMap(({ type, data }) =>
          type === 'permission/granted' ? [(data as { rule: string }).rule] : [],
        )
        expect(session.fold(grants)).toMatchObject({ chosen: [], offered: [] })
        expect(session.fold(grants).granted.map(({ rule }) => rule)).toEqual(written)
        if (probe?.runs) expect(written).toEqual(['probe(a)'])
        expect(await isAsked(session, 'a')).toBe(!written.includes('probe(a)'))
        expect(await isAsked(session, 'b')).toBe(true)
        seen.add(written.includes('probe(a)'))
        await session.close()
      }
    },
  })
  expect(states).toBeGreaterThan(50)
  expect(seen.size).toBe(2)
})
