import { defineErrors } from '@sluice/base'
import { Type } from 'typebox'
import type { Context } from 'cordis'
import z from 'schemastery'
import { describe, expect, it } from 'vitest'
import { pagesOf } from '../src/index.ts'
import { bootWith, part } from '@sluice/testkit/composition'

async function pageOf(name: string, extra: Record<string, unknown>): Promise<string> {
  const booted = await bootWith(extra)
  const page = pagesOf(booted).find((candidate) => candidate.name === name)
  await booted.dispose()
  return page?.text ?? ''
}

describe('the reference', () => {
  it('shows who provides and who needs each service, and what waits for what', async () => {
    const optional = (ctx: Context) => void ctx.inject(['later'], () => {})
    const text = await pageOf('composition.md', {
      waiting: part('waiting', () => {}, ['tools', 'nothing']),
      lenient: part('lenient', optional, []),
    })
    expect(text).toMatch(/\| `ctx\.tools` \| tools \| waiting \| {2}\|/)
    expect(text).toMatch(/\| `ctx\.world` \| the host \| .*session.* \|/)
    expect(text).toContain('| waiting | `waiting` | pending | `nothing`, `tools` |')
    expect(text).toContain('| lenient | `lenient` | active |  | `later` |')
    expect(text).toContain('waiting  waiting needs nothing, which no plugin of the composition provides')
    expect(text).not.toContain('[""]')
  })

  it('shows each option with type, default and meaning, those inside others by their path', async () => {
    const Config = z.object({
      size: z.number().default(5).description('How many | at most.'),
      inner: z.object({ on: z.boolean() }),
    })
    const text = await pageOf('config.md', { mine: { name: 'mine', Config, apply: () => {} } })
    expect(text).toContain('| `size` | `number` | `5` | How many \\| at most. |')
    expect(text).toContain('| `inner.on` | `boolean` |  |  |')
  })

  it('shows each code of the error tables that the plugins export, with condition and remedy', async () => {
    const mineErrors = defineErrors({ MINE_LOST: { when: 'it is lost', message: () => 'lost', remedy: 'Look again.' } })
    const text = await pageOf('errors.md', { mine: { name: 'mine', apply: () => {}, mineErrors } })
    expect(text).toContain('| `MINE_LOST` | it is lost | Look again. |')
    expect(text).toContain('| `JSON_UNPARSABLE` |')
  })

  it('shows the event types of the session log with owner and schema', async () => {
    const schema = Type.Object({ how: Type.String() })
    const define = (ctx: Context) =>
      ctx.sessions.define({ 'mine/done': { version: 3, meaning: 'It was done.', schema, modelVisible: true } })
    const text = await pageOf('session-events.md', { mine: part('mine', define, ['sessions']) })
    expect(text).toContain('| `mine/done` | mine |  | yes | It was done. |')
    expect(text).toContain('| `tool/rewritten` | session | `prepare` | no |')
    expect(text).toContain('### mine/done\n\nVersion 3.\n\n```ts\n{ how: string }\n```')
  })

  it('shows each declared event: how it is dispatched, who emits it, when, and who listens now', async () => {
    const mineEvents = {
      emitter: 'mine',
      events: { 'mine/look-around': { kind: 'waterfall', when: 'Asked to look.', during: ['execute'] } },
    }
    const listen = (ctx: Context) => {
      const on = ctx.on.bind(ctx) as (event: string, listener: () => void, options?: object) => void
      on('mine/look-around', () => {}, { order: 2 })
      on('mine/looked', () => {})
    }
    const [events, pipeline] = await Promise.all(
      ['events.md', 'tool-execution-pipeline.md'].map((name) =>
        pageOf(name, { mine: { name: 'mine', apply: () => {}, mineEvents }, './ears.mjs': part('ears', listen) }),
      ),
    )
    expect(events).toContain(
      '| `mine/look-around` | waterfall | mine | `execute` | ears (`./ears.mjs`, order 2) | Asked to look. |',
    )
    expect(events).toContain('| `tools/execute` | waterfall | tools | `execute` | nobody |')
    const unknown = events?.split('## Declared by nobody')[1]?.match(/^\| `.*/gm)
    expect(unknown).toEqual(['| `mine/looked` | ears (`./ears.mjs`) |'])
    expect(events).not.toContain('internal/')
    expect(pipeline).toContain('| Meanwhile | waterfall `mine/look-around` |')
  })

  it('shows each tool as the model is told of it, with what others may know', async () => {
    const register = (ctx: Context) =>
      ctx.tools.register({
        name: 'look',
        description: 'Looks at ```this```.',
        parameters: Type.Object({ at: Type.String() }),
        annotations: { readOnly: true },
        aliases: ['Look'],
        timeoutMs: 50,
        execute: () => null,
      })
    const text = await pageOf('tools.md', { './mine.ts': part('mine', register) })
    expect(text).toContain('## look\n\n````text\nLooks at ```this```.\n````')
    expect(text).toContain('| Plugin | mine (`./mine.ts`) |\n| Annotations | readOnly |\n| Other names | `Look` |')
    expect(text).toContain('| Deadline | 50 ms |')
  })
})
