/** Owns T1 to T3: guarded calls through the whole loop, against the least work with and without guards. */
import * as agent from '@sluice/agent'
import { lossless, schemaCheck } from '@sluice/base'
import * as llm from '@sluice/llm'
import type { StreamPart } from '@sluice/llm'
import * as session from '@sluice/session'
import * as tools from '@sluice/tools'
import * as world from '@sluice/world-node'
import { Context, type Events, type Plugin } from 'cordis'
import type { Candidate, Case } from '../measure.ts'

const parts: readonly Plugin.Object<void>[] = [world, session.memoryStorePlugin, session, llm, agent] as never
const argumentsText = '{"text":"hi","n":1}'
const parameters = {
  type: 'object',
  properties: { text: { type: 'string' }, n: { type: 'number' } },
  required: ['text', 'n'],
  additionalProperties: false,
}

interface Shape {
  readonly steps: number
  readonly calls: number
  /** Messages before the measured turn. */
  readonly history: number
  readonly listeners: boolean
}

/** A model that asks for `calls` calls in each of `steps` steps, then says it is done. */
function model({ steps, calls }: Shape) {
  let n = 0
  let made = 0
  return {
    /** The next request is answered as if so many steps were left. */
    restart: (left: number) => {
      n = steps - left
    },
    async *stream(): AsyncGenerator<StreamPart> {
      const step = n++
      if (step >= steps) {
        yield { type: 'text', text: 'done' }
        yield { type: 'finish', reason: 'stop' }
        return
      }
      for (let i = 0; i < calls; i++) yield { type: 'tool-call', id: `c${++made}`, name: 'noop', argumentsText }
      yield { type: 'finish', reason: 'tool-calls' }
    },
  }
}

const preExecute: Events['tools/pre-execute'] = async (_call, next) => next()
const execute: Events['tools/execute'] = async (_call, _run, next) => next()
const postExecute: Events['tools/post-execute'] = async (_call, _result, next) => next()

function mount(shape: Shape) {
  return (ctx: Context) => {
    ctx.tools.register({
      name: 'noop',
      description: 'Does nothing.',
      parameters,
      annotations: { readOnly: true },
      overlap: 'parallel',
      execute: async () => 'ok',
    })
    if (!shape.listeners) return
    for (let i = 0; i < 3; i++) {
      ctx.on('tools/pre-execute', tools.bare(preExecute))
      ctx.on('tools/execute', tools.bare(execute))
      ctx.on('tools/post-execute', tools.bare(postExecute))
    }
    for (let i = 0; i < 5; i++) ctx.tools.guard(`guard ${i}`, () => undefined)
  }
}

function ours(shape: Shape): Candidate {
  return {
    name: 'sluice',
    async prepare() {
      const ctx = new Context()
      for (const plugin of parts) await ctx.plugin(plugin)
      await ctx.plugin(tools, { otherwise: 'allow' })
      await ctx.plugin({ name: 'bench', inject: ['tools'], apply: mount(shape) })
      const script = model(shape)
      ctx.llm.register('bench', script)
      const log = await ctx.sessions.create({ cwd: '/' })
      for (let i = 0; i < shape.history; i++) {
        if (i % 2 === 0)
          log.append('user/message', { content: [{ type: 'text', text: `message ${i}` }], source: 'user' })
        else {
          const content = [{ type: 'text' as const, text: `message ${i}` }]
          log.append('assistant/message', { content, finish: 'stop', model: 'bench/m' })
        }
      }
      log.messages()
      const driven = ctx.agents.create({ session: log, model: 'bench/m', stepsMax: shape.steps + 1 })
      const turn = async (left: number) => {
        script.restart(left)
        const { text, reason, detail } = await driven.send('go')
        if (text !== 'done') throw new Error(`the turn ended ${reason}: ${detail}`)
      }
      // Schemas are compiled at the first call.
      await turn(1)
      return () => turn(shape.steps)
    },
  }
}

const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise

/** The same work on plain arrays, without plugins, verdict joining, trace or typed events. */
function floor({ steps, calls, listeners }: Shape): Candidate {
  return {
    name: listeners ? 'guarded sketch' : 'bare floor',
    prepare() {
      const check = schemaCheck(parameters)
      const count = listeners ? 3 : 0
      const pre = Array.from({ length: count }, () => async () => undefined)
      const guards = Array.from({ length: listeners ? 5 : 0 }, () => () => undefined)
      type Next = () => Promise<unknown>
      const around = Array.from({ length: count }, () => async (next: Next) => next())
      const post = Array.from({ length: count }, () => async (result: unknown) => result)
      const body = async () => ({ content: [{ type: 'text', text: 'ok' }], isError: false, value: 'ok' })
      const chain = around.reduceRight<Next>((next, wrapper) => () => wrapper(next), body)
      const log: string[] = []
      const execute = async (id: string) => {
        log.push(JSON.stringify({ seq: log.length, type: 'tool/call', id, name: 'noop', argumentsText }))
        if (!check.test(lossless(JSON.parse(argumentsText)))) throw new Error('invalid')
        for (const ask of pre) await ask()
        for (const guard of guards) guard()
        let result: unknown = await chain()
        for (const review of post) {
          const reviewed = review(result)
          result = isPromise(reviewed) ? await reviewed : reviewed
        }
        return lossless(result)
      }
      return async () => {
        for (let step = 0; step < steps; step++) {
          const results = await Promise.all(Array.from({ length: calls }, (_, i) => execute(`c${step}_${i}`)))
          for (const result of results) log.push(JSON.stringify({ seq: log.length, type: 'tool/result', result }))
        }
      }
    },
  }
}

function pipeline(id: string, what: string, shape: Shape): Case {
  return {
    id,
    what,
    units: shape.steps * shape.calls,
    rounds: 15,
    clock: 'cpu',
    floor: floor(shape),
    ours: ours(shape),
    target: undefined,
    note: 'target is set against a peer',
  }
}

export const pipelineCases: readonly Case[] = [
  pipeline('T1', 'one call a step, whole loop, 3 listeners on each waterfall, 5 guards', {
    steps: 50,
    calls: 1,
    history: 0,
    listeners: true,
  }),
  pipeline('T1-', 'the same without listeners', { steps: 100, calls: 1, history: 0, listeners: false }),
  pipeline('T2', 'ten calls a step, 3 listeners on each waterfall, 5 guards', {
    steps: 20,
    calls: 10,
    history: 0,
    listeners: true,
  }),
  pipeline('T2-', 'the same without listeners', { steps: 20, calls: 10, history: 0, listeners: false }),
  {
    id: 'T3',
    what: 'a step at 5,000 messages, against one at 100',
    units: 20,
    rounds: 9,
    clock: 'cpu',
    floor: ours({ steps: 20, calls: 1, history: 100, listeners: false }),
    ours: ours({ steps: 20, calls: 1, history: 5_000, listeners: false }),
    target: 1.2,
  },
]
