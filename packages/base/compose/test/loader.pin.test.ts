import { Loader } from '@deepseek-ai/cordis-plugin-loader'
import { Context } from 'cordis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

/** The framework's own import cannot read TypeScript, and ours decides where a name is looked up. */
class FixtureLoader extends Loader {
  override import(name: string): Promise<unknown> {
    return import(/* @vite-ignore */ new URL(name, import.meta.url).href)
  }
}

describe('the loader of the framework', () => {
  let ctx: Context
  beforeEach(async () => {
    ctx = new Context()
    await ctx.plugin(FixtureLoader, {})
  })
  afterEach(async () => {
    await ctx.fiber.dispose()
  })

  function entry() {
    return [...ctx.loader.entries()][0]
  }

  it('mounts a module namespace as a plugin, imported by the method that a subclass overrides', async () => {
    await ctx.loader.create({ name: './fixtures/greeter.ts', config: { greeting: 'hi' } })
    await entry()?.fiber?.await()
    expect(entry()?.fiber?.runtime?.name).toBe('greeter')
    expect(entry()?.fiber?.config).toEqual({ greeting: 'hi' })
    expect(ctx.get('greeter')).toEqual({ greeting: 'hi' })
  })

  it('has made the fiber of an entry when create resolves, whether it is active or not', async () => {
    await ctx.loader.create({ name: './fixtures/greeter.ts' })
    expect(entry()?.fiber?.uid).toBeGreaterThan(0)
    expect(entry()?.fiber?.entry).toBe(entry())
  })

  it('logs a module that cannot be imported and goes on without a fiber', async () => {
    await ctx.loader.create({ name: './fixtures/absent.ts' })
    expect(entry()?.fiber).toBeUndefined()
    expect(ctx.logger.buffer.some((message) => message.type === 'error')).toBe(true)
  })

  it('rejects create for a module that is no plugin', async () => {
    await expect(ctx.loader.create({ name: './fixtures/nothing.ts' })).rejects.toThrow('invalid plugin')
  })

  it('evaluates a __jsExpr node of a configuration as code', async () => {
    await ctx.loader.create({ name: './fixtures/greeter.ts', config: { greeting: { __jsExpr: '"ev" + "al"' } } })
    await entry()?.fiber?.await()
    expect(entry()?.fiber?.config).toEqual({ greeting: 'eval' })
  })

  it('unmounts an entry that is removed', async () => {
    const id = await ctx.loader.create({ name: './fixtures/greeter.ts' })
    const fiber = entry()?.fiber
    await fiber?.await()
    ctx.loader.remove(id)
    await fiber?.dispose()
    expect([...ctx.loader.entries()]).toEqual([])
    expect(ctx.get('greeter')).toBeUndefined()
  })
})
