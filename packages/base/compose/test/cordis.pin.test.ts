import { Context, type Fiber } from 'cordis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { named } from './fixtures/named.ts'

declare module 'cordis' {
  interface EventOptions {
    marker?: string
  }
  interface Events {
    'pin/ping'(seen: string[]): void
    'pin/ask'(next: () => string): string
  }
}

interface Hook {
  readonly ctx: Context
  readonly callback: (...args: unknown[]) => unknown
  readonly marker?: string
}

/** The enum is not exported at run time. */
const ACTIVE = 2
const UNLOADING = 5

function hooksOf(ctx: Context, event: string): Hook[] {
  const all: Record<string, Hook[]> = ctx.events._hooks
  return all[event] ?? []
}

/** A promise with its resolver beside it. */
function gate() {
  let open: () => void = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}

describe('the framework', () => {
  let ctx: Context
  beforeEach(() => {
    ctx = new Context()
  })
  afterEach(async () => {
    await ctx.fiber.dispose()
  })

  describe('listeners', () => {
    it('announces an addition before it is made, with the adding fiber, and never a removal', async () => {
      const seen: { fiber: Fiber; present: number }[] = []
      ctx.on('internal/listener', function (this: Context, name: string) {
        if (name === 'pin/ping') seen.push({ fiber: this.fiber, present: hooksOf(ctx, 'pin/ping').length })
      })
      const fiber = await ctx.plugin(named('one', (own) => own.on('pin/ping', () => {})))
      expect(seen).toHaveLength(1)
      expect(seen[0]?.present).toBe(0)
      expect(seen[0]?.fiber.uid).toBe(fiber.uid)
      expect(hooksOf(ctx, 'pin/ping')).toHaveLength(1)
      await fiber.dispose()
      expect(hooksOf(ctx, 'pin/ping')).toHaveLength(0)
      expect(seen).toHaveLength(1)
    })

    it('lets the options of a listener claim another context in its record, but not another fiber in the announcement', async () => {
      const owners: (string | undefined)[] = []
      ctx.on('internal/listener', function (this: Context, name: string) {
        if (name === 'pin/ping') owners.push(this.fiber.runtime?.name)
      })
      const forged: object = { ctx }
      await ctx.plugin(named('forger', (own) => own.on('pin/ping', () => {}, forged)))
      expect(hooksOf(ctx, 'pin/ping')[0]?.ctx.fiber.uid).toBe(0)
      expect(owners).toEqual(['forger'])
    })

    it('keeps other option keys in the record of the listener', () => {
      ctx.on('pin/ping', () => {}, { marker: 'kept' })
      expect(hooksOf(ctx, 'pin/ping')[0]?.marker).toBe('kept')
    })

    it('wraps a listener in a proxy through which symbol properties read from the original', () => {
      const key = Symbol('key')
      const listener = Object.assign(() => {}, { [key]: 'original' })
      ctx.on('pin/ping', listener)
      const callback = hooksOf(ctx, 'pin/ping')[0]?.callback
      expect(callback).not.toBe(listener)
      expect(Reflect.get(callback as object, key)).toBe('original')
    })

    it('changes the array of records of an event in place', () => {
      const stop = ctx.on('pin/ping', () => {})
      const array = hooksOf(ctx, 'pin/ping')
      ctx.on('pin/ping', () => {})
      expect(array).toHaveLength(2)
      stop()
      expect(array).toHaveLength(1)
      expect(hooksOf(ctx, 'pin/ping')).toBe(array)
    })

    it('runs them in the order of activation, which a reload changes', async () => {
      const first = await ctx.plugin(named('first', (own) => own.on('pin/ping', (seen) => void seen.push('first'))))
      await ctx.plugin(named('second', (own) => own.on('pin/ping', (seen) => void seen.push('second'))))
      const before: string[] = []
      ctx.emit('pin/ping', before)
      await first.restart()
      const after: string[] = []
      ctx.emit('pin/ping', after)
      expect(before).toEqual(['first', 'second'])
      expect(after).toEqual(['second', 'first'])
    })

    it('starves those after one that throws in emit', () => {
      const seen: string[] = []
      ctx.on('pin/ping', () => {
        throw new Error('broken listener')
      })
      ctx.on('pin/ping', (list) => void list.push('late'))
      expect(() => ctx.emit('pin/ping', seen)).toThrow('broken listener')
      expect(seen).toEqual([])
    })

    it('lets one that does not call next hide those after it in a waterfall', () => {
      ctx.on('pin/ask', () => 'outer')
      ctx.on('pin/ask', () => 'inner')
      expect(ctx.waterfall('pin/ask', () => 'default')).toBe('outer')
    })

    it('are absent while the configuration of their plugin is updated', async () => {
      const fiber = await ctx.plugin(named('one', (own) => own.on('pin/ping', () => {})))
      fiber.update({})
      const during: number[] = []
      await new Promise<void>((resolve) => {
        ctx.on('internal/status', (changed) => {
          during.push(hooksOf(ctx, 'pin/ping').length)
          if (changed.uid === fiber.uid && changed.state === ACTIVE) resolve()
        })
      })
      expect(during[0]).toBe(0)
      expect(hooksOf(ctx, 'pin/ping')).toHaveLength(1)
    })

    it('are gone when their fiber tells that its unloading has ended, whether it goes or starts again', async () => {
      const fiber = await ctx.plugin(named('one', (own) => own.on('pin/ping', () => {})))
      const ended: number[] = []
      ctx.on('internal/status', (changed, before) => {
        if (changed === fiber && Number(before) === UNLOADING) ended.push(hooksOf(ctx, 'pin/ping').length)
      })
      await fiber.restart()
      await fiber.dispose()
      expect(ended).toEqual([0, 0])
    })

    it('cannot be added by a plugin that is gone', async () => {
      let own: Context | undefined
      const fiber = await ctx.plugin(named('one', (inner) => (own = inner)))
      await fiber.dispose()
      expect(() => own?.on('pin/ping', () => {})).toThrow('inactive context')
    })

    it('are shown with their event among the effects of their own fiber', async () => {
      const fiber = await ctx.plugin(named('one', (own) => own.on('pin/ping', () => {})))
      expect(fiber.getEffects()).toEqual([{ label: 'ctx.on("pin/ping")', children: [] }])
    })
  })

  describe('effects', () => {
    it('of one fiber are cleaned concurrently', async () => {
      const { passed, open } = gate()
      const steps: string[] = []
      const fiber = await ctx.plugin(
        named('one', (own) => {
          own.effect(() => () => {
            steps.push('first')
            open()
          })
          own.effect(() => async () => {
            steps.push('second waits')
            await passed
            steps.push('second ends')
          })
        }),
      )
      await fiber.dispose()
      expect(steps).toEqual(['second waits', 'first', 'second ends'])
    })

    it('yielded by one generator are cleaned one after another, last first', async () => {
      const steps: string[] = []
      const step = (name: string) => async () => {
        steps.push(`${name} starts`)
        await Promise.resolve()
        steps.push(`${name} ends`)
      }
      const fiber = await ctx.plugin(
        named('one', (own) => {
          own.effect(function* () {
            yield step('a')
            yield step('b')
          })
        }),
      )
      await fiber.dispose()
      expect(steps).toEqual(['b starts', 'b ends', 'a starts', 'a ends'])
    })

    it('are awaited by the disposal of their plugin', async () => {
      let cleaned = false
      const fiber = await ctx.plugin(
        named('one', (own) => {
          own.effect(() => async () => {
            await Promise.resolve()
            cleaned = true
          })
        }),
      )
      await fiber.dispose()
      expect(cleaned).toBe(true)
    })

    it('are awaited by the disposal of their plugin when somebody else has started the cleaning', async () => {
      const { passed, open } = gate()
      let cleaned = false
      let stop: () => unknown = () => {}
      const fiber = await ctx.plugin(
        named('one', (own) => {
          stop = own.effect(() => async () => {
            await passed
            cleaned = true
          })
        }),
      )
      stop()
      const disposed = fiber.dispose()
      open()
      await disposed
      expect(cleaned).toBe(true)
    })

    it('made by a plugin that unloads while it loads are undone', async () => {
      const { passed, open } = gate()
      const reached = gate()
      const fiber = ctx.plugin({
        name: 'slow',
        async apply(own: Context) {
          own.on('pin/ping', () => {})
          reached.open()
          await passed
        },
      })
      await reached.passed
      const disposed = fiber.dispose()
      open()
      await disposed
      expect(hooksOf(ctx, 'pin/ping')).toHaveLength(0)
    })

    it('made while a plugin loads are undone when it fails to load', async () => {
      const fiber = ctx.plugin(
        named('one', (own) => {
          own.on('pin/ping', () => {})
          throw new Error('broken plugin')
        }),
      )
      await expect(fiber).rejects.toThrow('broken plugin')
      expect(hooksOf(ctx, 'pin/ping')).toHaveLength(0)
    })
  })
})
