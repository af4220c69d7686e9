import { expect, test } from 'vitest'
import * as sessionPlugin from '@sluice/session'
import { simWorld, worldPlugin } from '@sluice/testkit'
import { Context } from 'cordis'
import * as fsPlugin from '../src/index.ts'

test('unloading the files plugin leaves nothing behind', async () => {
  const ctx = new Context()
  await ctx.plugin(worldPlugin(simWorld()))
  await ctx.plugin(sessionPlugin.memoryStorePlugin)
  await ctx.plugin(sessionPlugin, {})
  const effects = ctx.fiber.getEffects().length
  const types = ctx.sessions.types().map(({ type }) => type)
  const fiber = await ctx.plugin(fsPlugin, {})
  expect(ctx.sessions.types().map(({ type }) => type)).toEqual([...types, 'fs/changed', 'fs/observed'].sort())
  expect(ctx.get('fs')).toBeDefined()
  await fiber.dispose()
  expect(ctx.get('fs')).toBeUndefined()
  expect(ctx.sessions.types().map(({ type }) => type)).toEqual(types)
  expect(ctx.fiber.getEffects()).toHaveLength(effects)
})
