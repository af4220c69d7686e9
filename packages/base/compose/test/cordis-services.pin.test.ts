import { Context, type Plugin, Service } from 'cordis'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { named } from './fixtures/named.ts'

declare module 'cordis' {
  interface Context {
    pinA: unknown
    pinB: unknown
  }
}

/** The state numbers: the enum is not exported at run time. */
const PENDING = 0
const LOADING = 1
const ACTIVE = 2
const FAILED = 3

describe('the framework', () => {
  let ctx: Context
  beforeEach(() => {
    ctx = new Context()
  })
  afterEach(async () => {
    await ctx.fiber.dispose()
  })

  describe('services', () => {
    it('keep a plugin pending until the one it injects is there, and unload it when that goes', async () => {
      const steps: string[] = []
      const user = ctx.plugin(
        named(
          'user',
          (own) => {
            steps.push('user loads')
            own.effect(() => () => void steps.push('user unloads'))
          },
          ['pinA'],
        ),
      )
      await user
      expect(user.state).toBe(PENDING)
      expect(Object.keys(user.inject)).toEqual(['pinA'])
      const provider = await ctx.plugin(named('provider', (own) => own.provide('pinA', { is: 'there' })))
      await user.await()
      expect(user.state).toBe(ACTIVE)
      await provider.dispose()
      expect(user.state).toBe(PENDING)
      expect(steps).toEqual(['user loads', 'user unloads'])
    })

    it('are visible to injecting plugins and their children only, and by get to all', async () => {
      await ctx.plugin(named('provider', (own) => own.provide('pinA', 'value')))
      const read: unknown[] = []
      await ctx.plugin(named('stranger', (own) => read.push(own.get('pinA'))))
      const careless = ctx.plugin(named('careless', (own) => own.pinA))
      await expect(careless).rejects.toThrow('without inject')
      await ctx.plugin(named('user', (own) => own.plugin(named('child', (inner) => read.push(inner.pinA))), ['pinA']))
      await vi.waitFor(() => expect(read).toEqual(['value', 'value']))
    })

    it('have one provider in a scope, recorded in the store with its fiber', async () => {
      const one = await ctx.plugin(named('one', (own) => own.provide('pinA', 1)))
      await expect(ctx.plugin(named('two', (own) => own.provide('pinA', 2)))).rejects.toThrow('has been registered')
      const impls = Reflect.ownKeys(ctx.reflect.store).map((key) => ctx.reflect.store[key as symbol])
      expect(impls.filter((impl) => impl?.name === 'pinA').map((impl) => impl?.fiber.uid)).toEqual([one.uid])
      expect(one.getEffects().map((effect) => effect.label)).toEqual(['ctx.provide("pinA")'])
    })

    it('that extend Service see the context of the caller; a plain value is handed out as it is', async () => {
      class Registry extends Service {
        who() {
          return this.ctx.fiber.runtime?.name
        }
      }
      const plain = { is: 'plain' }
      await ctx.plugin(
        named('provider', (own) => {
          own.provide('pinA', plain)
          new Registry(own, 'pinB')
        }),
      )
      const read: unknown[] = []
      await ctx.plugin(
        named('caller', (own) => read.push(own.pinA === plain, (own.pinB as Registry).who()), ['pinA', 'pinB']),
      )
      expect(read).toEqual([true, 'caller'])
    })

    it('that extend Service cannot use private fields', async () => {
      class Private extends Service {
        #secret = 1
        reveal() {
          return this.#secret
        }
      }
      await ctx.plugin(named('provider', (own) => void new Private(own, 'pinA')))
      const caller = ctx.plugin(named('caller', (own) => (own.pinA as Private).reveal(), ['pinA']))
      await expect(caller).rejects.toThrow(TypeError)
    })
  })

  describe('plugins', () => {
    it('that crash print nothing while no log exporter is mounted, and leave the error in the buffer', async () => {
      const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
      const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
      const fiber = ctx.plugin(
        named('broken', () => {
          throw new Error('nobody hears this')
        }),
      )
      await fiber.await().catch(() => {})
      const printed = out.mock.calls.length + err.mock.calls.length
      out.mockRestore()
      err.mockRestore()
      expect(printed).toBe(0)
      expect(fiber.state).toBe(FAILED)
      expect(ctx.logger.buffer.map((message) => String(message.args[0]))).toContain('Error: nobody hears this')
    })

    it('give the error of their failure to whoever awaits their fiber, at any later time', async () => {
      const fiber = ctx.plugin(
        named('broken', () => {
          throw new Error('kept')
        }),
      )
      await fiber.await().catch(() => {})
      await expect(fiber.await()).rejects.toThrow('kept')
    })

    it('fail when their configuration is refused by their schema', async () => {
      const Config = {
        '~standard': { version: 1, vendor: 'pin', validate: () => ({ issues: [{ message: 'too short' }] }) },
      }
      const strict = { name: 'strict', Config, apply: () => {} } as unknown as Plugin.Object<object>
      const fiber = ctx.plugin(strict, {})
      await expect(fiber).rejects.toThrow('too short')
      expect(fiber.state).toBe(FAILED)
    })

    it('have increasing uids while mounted, none afterwards, and show their transition as inertia', async () => {
      const one = ctx.plugin(named('one', () => {}))
      expect(one.state).toBe(LOADING)
      expect(one.inertia).toBeInstanceOf(Promise)
      await one
      const two = await ctx.plugin(named('two', () => {}))
      expect(two.uid).toBeGreaterThan(one.uid as number)
      expect([...ctx.registry.values()].map((runtime) => runtime.name)).toEqual(['one', 'two'])
      await one.dispose()
      expect(two.inertia).toBeUndefined()
      expect([...ctx.registry.values()].map((runtime) => runtime.name)).toEqual(['two'])
    })
  })
})
