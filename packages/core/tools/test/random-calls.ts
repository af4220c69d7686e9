/** Owns random tools, listeners, guards, answerers and batches: everything that a composition may do to a call, well or badly. */
import type { JsonObject } from '@sluice/base'
import type { Answer } from '@sluice/approval'
import type { Attempt, Awaitable, Call, CallRequest, ExecuteRun, PostVerdict, Run, ToolDefinition } from '@sluice/tools'
import { probeTool, type SimRandom } from '@sluice/testkit'
import type { Context, Fiber } from 'cordis'
import type { Bench } from './kit.ts'

/** No hang lasts longer than this: an abort, a deadline or the clock of a listener ends it. */
export const ABORT_MS_MAX = 400

export class Chance {
  readonly random: SimRandom
  readonly bench: Bench

  constructor(random: SimRandom, bench: Bench) {
    this.random = random
    this.bench = bench
  }

  pick<T>(...items: readonly T[]): T {
    return this.random.pick(items)
  }

  one(of: number): boolean {
    return this.random.int(of) === 0
  }

  wait(): Promise<void> {
    return new Promise((resolve) => this.bench.world.clock.timer(this.random.int(120), resolve))
  }

  /** Sometimes fails, hangs or answers nonsense; otherwise does `well`. */
  async perhaps<T>(well: () => T | PromiseLike<T>): Promise<T> {
    if (this.one(2)) await this.wait()
    switch (this.random.int(20)) {
      case 0:
        throw this.pick<unknown>(
          new Error('tripped'),
          undefined,
          'text',
          Object.assign(new Error(), { name: 'AbortError' }),
        )
      case 1:
        return new Promise(() => {})
      case 2:
        return this.pick<unknown>(undefined, null, 5, {}, { kind: 'great' }, { status: 'odd' }) as T
      default:
        return well()
    }
  }
}

function stopOf(run: Run): Promise<never> {
  return new Promise((_resolve, reject) =>
    run.signal.addEventListener('abort', () => reject(run.signal.reason as Error)),
  )
}

async function nest(chance: Chance, run: Run): Promise<unknown> {
  const names = Array.from({ length: chance.random.int(4) }, () => chance.pick('t0', 't1', 't2', 'nowhere'))
  const calls = names.map((name) => run.call(name, chance.pick<unknown>({}, { path: 'x' }, '{', undefined, 1n)))
  if (chance.one(3)) return 'left them running'
  return (await Promise.allSettled(calls)).map(({ status }) => status)
}

async function body(chance: Chance, run: Run): Promise<unknown> {
  if (chance.one(3)) run.context('by the body')
  if (chance.one(4)) run.progress({ at: 1 })
  if (chance.one(9)) run.endTurn()
  if (chance.one(2)) await chance.wait()
  switch (chance.random.int(9)) {
    case 0:
      throw new Error('it broke')
    case 1:
      return new Promise(() => {})
    case 2:
      return stopOf(run)
    case 3:
      return stopOf(run).catch(() => chance.wait().then(() => 'late'))
    case 4:
      return chance.pick<unknown>(1n, new Date(0), Number.NaN, { p: Promise.resolve(1) }, () => 1)
    case 5:
      return run.callId.split('.').length < 4 ? nest(chance, run) : 'deep enough'
    default:
      return { fine: true }
  }
}

function toolOf(chance: Chance, name: string): ToolDefinition {
  const keys = () => ({ reads: [chance.pick('x', 'y')], ...(chance.one(2) && { writes: [chance.pick('x', 'y')] }) })
  const overlap = chance.pick<unknown>('exclusive', 'parallel', keys, keys)
  const raise = () => {
    throw new Error('tripped')
  }
  return probeTool({
    name,
    overlap: (chance.one(12) ? raise : overlap) as never,
    annotations: { readOnly: chance.one(3), idempotent: chance.one(3) },
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
    ...(chance.one(3) && { finalizeContent: (_call, { content }) => (chance.one(6) ? raise() : content) }),
    ...(chance.one(4) && { presentCall: raise, presentResult: raise }),
    ...(chance.one(6) && { render: () => chance.pick<unknown>('shown', 5, []) as string }),
    body: (_args, run) => body(chance, run),
  }).definition
}

async function wrap(chance: Chance, run: ExecuteRun, next: () => Promise<Attempt>): Promise<unknown> {
  if (chance.one(2)) run.deadline(1 + chance.random.int(200))
  switch (chance.random.int(7)) {
    case 0:
      return { status: 'succeeded', value: 'cached' }
    case 1: {
      const first = await next()
      return first.status === 'succeeded' ? first : next().catch(() => first)
    }
    case 2:
      return Promise.race([next(), chance.wait().then(() => ({ status: 'failed', code: 'SLOW', message: 'slow' }))])
    case 3:
      void next()
      return next()
    case 4: {
      await next()
      throw new Error('tripped')
    }
    default:
      return next()
  }
}

function listen(chance: Chance, ctx: Context): void {
  const order = chance.random.int(3)
  switch (chance.random.int(7)) {
    case 0:
      ctx.on(
        'tools/prepare',
        (call, next) =>
          chance.perhaps(() => chance.pick<Awaitable<JsonObject>>(next(), { path: 'y' }, { path: 5 }, call.args)),
        { order },
      )
      break
    case 1:
      ctx.on(
        'tools/pre-execute',
        (_call, next) =>
          chance.perhaps(() => {
            const kind = chance.pick('next', 'next', 'allow', 'ask', 'deny')
            return kind === 'next' ? next() : { kind, reason: 'by chance' }
          }),
        { order },
      )
      break
    case 2:
      ctx.on('tools/execute', (_call, run, next) => chance.perhaps(() => wrap(chance, run, next) as Promise<Attempt>), {
        order,
      })
      break
    case 3:
      ctx.on(
        'tools/post-execute',
        (_call, _result, next) =>
          chance.perhaps(async () => {
            const passed = chance.one(2) ? await next() : undefined
            const contexts = ['by a listener']
            return chance.pick<Awaitable<PostVerdict>>(
              passed ?? next(),
              { kind: 'accept', contexts },
              { kind: 'replace', content: 'x' },
              { kind: 'block', reason: 'x' },
            )
          }),
        { order },
      )
      break
    case 4:
      ctx.on('tools/result', () => void chance.perhaps(() => {}).catch(() => {}), { order })
      break
    case 5:
      ctx.on('tools/result', () => chance.perhaps(() => {}) as unknown as undefined, { order })
      break
    default:
      ctx.tools.guard('chance', (_call: Call) => {
        if (chance.one(20)) throw new Error('tripped')
        return chance.one(6) ? 'by chance' : undefined
      })
  }
}

/** Mounts random tools, listeners and answerers; each may be unloaded at any time. */
export async function mountAtRandom(chance: Chance): Promise<Fiber[]> {
  const { bench } = chance
  const fibers: Fiber[] = []
  for (const name of ['t0', 't1', 't2']) fibers.push(await bench.register(toolOf(chance, name)))
  for (let left = chance.random.int(7); left > 0; left--)
    fibers.push(await bench.plugin(chance.pick('permissions', 'stranger'), (ctx) => listen(chance, ctx)))
  const answer = (callId: string) =>
    chance.perhaps((): Answer | undefined => {
      const kind = chance.pick('allow-once', 'allow-once', 'reject', 'cancel', undefined)
      return kind && { callId: chance.one(9) ? 'another' : callId, kind }
    })
  const apply = (ctx: Context) => void ctx.approval.answerer('chance', ({ callId }) => answer(callId))
  fibers.push((await bench.ctx.plugin({ name: 'person', inject: ['approval'], apply })) as unknown as Fiber)
  return fibers
}

export function callsAtRandom(chance: Chance): CallRequest[] {
  return Array.from({ length: 1 + chance.random.int(5) }, () => ({
    id: chance.pick('a', 'b', 'c', 'd', 'e', 'a.1', '', 'é\ud800'),
    tool: chance.pick('t0', 't0', 't1', 't1', 't2', 'nowhere'),
    arguments: chance.pick<string | object>(
      '{}',
      '',
      '{"path":"x"}',
      '{"path":',
      '[1]',
      { path: 'y' },
      { path: 5 },
    ) as string,
  }))
}
