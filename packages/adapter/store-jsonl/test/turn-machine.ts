/** Owns a simulated machine on which an agent plays one turn of everything, and what must hold of it after a death. */
import type { JsonObject } from '@sluice/base'
import * as agentPlugin from '@sluice/agent'
import * as approvalPlugin from '@sluice/approval'
import * as fsPlugin from '@sluice/fs'
import * as llmPlugin from '@sluice/llm'
import * as sessionPlugin from '@sluice/session'
import type { SessionEvent, SessionLog, SessionStore } from '@sluice/session'
import {
  everyCrash,
  keepPrefix,
  probeTool,
  type ScriptedStep,
  type SimWorld,
  scriptedModel,
  simWorld,
  worldPlugin,
} from '@sluice/testkit'
import * as toolFsPlugin from '@sluice/tool-fs'
import * as toolsPlugin from '@sluice/tools'
import { Context, type Plugin } from 'cordis'
import { jsonlStore } from '../src/index.ts'
import { DIR } from './kit.ts'

/** What the machine had promised and done when it died. */
export interface Told {
  /** Events that were written, by seq, and how many of them were acknowledged. */
  readonly appended: SessionEvent[]
  acknowledged: number
  /** Call ids of bodies that began. */
  readonly ran: string[]
}

export const nothingTold = (): Told => ({ appended: [], acknowledged: 0, ran: [] })

export const copyOf = ({ appended, acknowledged, ran }: Told): Told => ({
  appended: [...appended],
  acknowledged,
  ran: [...ran],
})

export const EDITED = '/proj/edited.txt'
export const NESTED = '/proj/nested.txt'

export function machine(): SimWorld {
  return simWorld({ files: { '/proj/sessions': null, [EDITED]: 'end\n', [NESTED]: 'end\n' } })
}

/** One more line each time it runs, so that a second run shows. */
const addLine = (path: string) => ({ path, edits: [{ oldText: 'end', newText: 'line\nend' }] })

/** A batch with a read, an edit, nested calls and a question. */
export const everything: readonly ScriptedStep[] = [
  {
    calls: [
      { id: 'c1', name: 'read', args: { path: EDITED } },
      { id: 'c2', name: 'edit', args: addLine(EDITED) },
      { id: 'c3', name: 'program' },
      { id: 'c4', name: 'probe', args: { ask: true } },
    ],
  },
  'done',
]

/** The model goes on after the death, with an id that it has used before. */
export const goingOn: readonly ScriptedStep[] = [
  {
    calls: [
      { id: 'c2', name: 'edit', args: addLine(EDITED) },
      { id: 'c3', name: 'program' },
    ],
  },
  'done again',
]

export interface Host {
  readonly ctx: Context
  /** Plays a turn in session `s`; throws when it did not come to its end. */
  turn(): Promise<void>
  close(): Promise<void>
}

/** A host process on the machine. What it is told and does goes to `told`. */
export async function host(world: SimWorld, told: Told, steps: readonly ScriptedStep[]): Promise<Host> {
  const ctx = new Context()
  const store = watched(jsonlStore(world, DIR), {
    written(event) {
      told.appended.length = event.seq
      told.appended.push(event)
    },
    acknowledged(seq) {
      told.acknowledged = Math.max(told.acknowledged, seq + 1)
    },
  })
  ctx.provide('sessionStore', store)
  await ctx.plugin(worldPlugin(world))
  for (const plugin of [sessionPlugin, llmPlugin]) await ctx.plugin(plugin as Plugin)
  await ctx.plugin(toolsPlugin, { otherwise: 'allow' })
  for (const plugin of [approvalPlugin, fsPlugin, toolFsPlugin, agentPlugin]) await ctx.plugin(plugin as Plugin)
  await ctx.plugin({ name: 'own-tools', inject: ['tools', 'approval'], apply: (own) => mountOwn(own, told) })
  const model = scriptedModel(steps)
  ctx.llm.register('sim', model)
  return {
    ctx,
    async turn() {
      const session = ctx.sessions.get('s') ?? (await ctx.sessions.create({ cwd: '/proj', id: 's' }))
      const agent = ctx.agents.get('main') ?? ctx.agents.create({ session, model: 'sim/one' })
      const { reason, detail } = await agent.send('go')
      if (reason !== 'completed') throw new Error(`the turn ended ${reason}: ${detail}`)
    },
    async close() {
      model.verify()
      await ctx.fiber.dispose()
    },
  }
}

function mountOwn(ctx: Context, told: Told): void {
  const note =
    (body: Body): Body =>
    (args, run) => {
      told.ran.push(run.callId)
      return body(args, run)
    }
  const probe = probeTool({ body: note((_, run) => run.context(`context of ${run.callId}`)) })
  ctx.tools.register(probe.definition)
  const both = note((_, run) => Promise.all([run.call('edit', addLine(NESTED)), run.call('probe', { ask: true })]))
  mountProgram(ctx, both)
}

type Body = (args: JsonObject, run: toolsPlugin.Run) => unknown

/** A tool `program` of nested calls, and a person who allows whatever is asked: calls with `ask`, and all of bash inside. */
export function mountProgram(ctx: Context, body: Body): void {
  ctx.tools.register(probeTool({ name: 'program', body }).definition)
  ctx.on('tools/pre-execute', (call, next) => {
    const asks = call.args['ask'] !== undefined || (call.tool === 'bash' && call.parent !== undefined)
    return asks ? { kind: 'ask', reason: 'sure?' } : next()
  })
  ctx.approval.answerer('person', ({ callId }) => ({ callId, kind: 'allow-once' }))
  // What runs hooks appends what they do; edits have one.
  ctx.on('tools/pre-execute', async ({ session, id: callId, tool }, next) => {
    if (tool !== 'edit') return next()
    const hook = { file: '/proj/hooks.json', event: 'PreToolUse', index: 0 }
    const { seq: cause } = session.append('hook/invoked', { hook, callId })
    await session.durable(cause)
    session.append('hook/result', { hook, decision: 'none', exitCode: 0 }, { cause })
    return next()
  })
}

export interface Watcher {
  written(event: SessionEvent): void
  acknowledged(seq: number): void
}

/** The store, watched for what it is given and what it promises. */
export function watched(store: SessionStore, watcher: Watcher): SessionStore {
  const watch = (log: SessionLog): SessionLog =>
    Object.assign(Object.create(log) as SessionLog, {
      write(event: SessionEvent) {
        log.write(event)
        watcher.written(event)
      },
      async durable(seq: number) {
        await log.durable(seq)
        watcher.acknowledged(seq)
      },
    })
  return Object.assign(Object.create(store) as SessionStore, {
    create: async (id: string) => watch(await store.create(id)),
    async open(id: string, mode: 'write' | 'read', options?: sessionPlugin.OpenLogOptions) {
      const opened = await store.open(id, mode, options)
      return { ...opened, log: watch(opened.log) }
    },
  })
}

/** A turn of everything, and what it told by the time of its death. */
export function turnOfEverything() {
  let told = nothingTold()
  return {
    make: () => {
      told = nothingTold()
      return machine()
    },
    act: async (world: SimWorld) => {
      const first = await host(world, told, everything)
      await first.turn()
      await first.close()
    },
    told: () => copyOf(told),
  }
}

/** Dies before each (or each so many) effect of the turn, and again before each effect of the next host's start.
 *  Resolves to the number of states checked. */
export async function dieInRecovery(check: (world: SimWorld, told: Told) => Promise<void>, every = 1): Promise<number> {
  const { make, act, told } = turnOfEverything()
  let deaths = 0
  let checked = 0
  await everyCrash({
    make,
    act,
    // A torn first effect leaves the most to do.
    states: () => (deaths++ % every === 0 ? [{ label: 'a torn first effect', keep: keepPrefix(0, 9) }] : []),
    async check(found) {
      const before = told()
      let both = copyOf(before)
      const states = (['none', 'all'] as const).map((keep) => ({ label: keep, keep }))
      checked += await everyCrash({
        make() {
          both = copyOf(before)
          return found.reboot({ keep: 'all' })
        },
        async act(world) {
          const next = await host(world, both, [])
          await next.ctx.sessions.open('s').catch(() => undefined)
          await next.close()
        },
        states: () => (every === 1 ? states : states.slice(checked % 2, (checked % 2) + 1)),
        check: (world) => check(world, copyOf(both)),
      })
    },
  })
  return checked
}
