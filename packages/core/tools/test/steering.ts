/** Owns how a test makes a call take each step of the table: one rule per stage and outcome. */
import type { Detour, Step } from '@sluice/pipeline'
import {
  type Attempt,
  type callTable,
  type CallOutcome,
  type CallStage,
  explain,
  type Explanation,
  type SettledCall,
} from '@sluice/tools'
import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { type Faults, faultyStore } from './faulty-store.ts'
import { type Bench, makeBench } from './kit.ts'

type Stages = (typeof callTable)['stages']
type DetourOf<S extends CallStage> = Stages[S] extends { readonly detours: readonly (infer D extends Detour)[] }
  ? D
  : never

/** What the parts around a call do; the rules change it, the parts read it. */
class Rig {
  readonly abort = new AbortController()
  tool = 'subject'
  args: object = { x: 1 }
  refuseCall = false
  /** Whoever looks at the approval service while the subject is on its way gets a throw. */
  untouchableApproval = false
  /** Another call holds the slot until the test ends, and the abort comes while the subject queues. */
  abortInQueue = false
  /** The caller aborts in the instant in which `tools/pre-execute` is answered. */
  abortAfterVerdict = false
  prepare: (next: () => unknown) => unknown = (next) => next()
  verdict: (next: () => unknown) => unknown = (next) => next()
  screen: () => string | undefined = () => undefined
  guard: () => string | undefined = () => undefined
  answer: () => unknown = () => undefined
  wrap: (next: () => Promise<Attempt>) => unknown = (next) => next()
  review: (next: () => unknown) => unknown = (next) => next()
  finalize: () => readonly [] = () => []

  readonly hang = (): Promise<never> => new Promise(() => {})
  readonly stop = (): Promise<never> => {
    this.abort.abort(new Error('stop'))
    return this.hang()
  }
  readonly raise = (): never => {
    throw new Error('tripped')
  }
}

type Rule = (rig: Rig) => void
const byItself: Rule = () => {}

/** A stage or outcome without a rule here does not compile, and fails every path that takes it. */
const rules: { readonly [S in CallStage]: { readonly [O in CallOutcome<S> | DetourOf<S>]: Rule } } = {
  admit: {
    admitted: byItself,
    'unknown-tool': (rig) => (rig.tool = 'nowhere'),
    invalid: (rig) => (rig.args = {}),
    aborted: (rig) => rig.abort.abort(),
    threw: (rig) => (rig.refuseCall = true),
  },
  prepare: {
    ready: byItself,
    invalid: (rig) => (rig.prepare = () => ({})),
    threw: (rig) => (rig.prepare = rig.raise),
    expired: (rig) => (rig.prepare = rig.hang),
    aborted: (rig) => (rig.prepare = rig.stop),
  },
  'pre-execute': {
    allow: (rig) => (rig.verdict = () => ({ kind: 'allow' })),
    ask: (rig) => (rig.verdict = () => ({ kind: 'ask', reason: 'sure?' })),
    deny: (rig) => (rig.verdict = () => ({ kind: 'deny', reason: 'no' })),
    threw: (rig) => (rig.verdict = rig.raise),
    expired: (rig) => (rig.verdict = rig.hang),
    aborted: (rig) => (rig.verdict = rig.stop),
  },
  screen: {
    clear: byItself,
    deny: (rig) => (rig.screen = () => 'not now'),
    threw: (rig) => (rig.screen = rig.raise),
    aborted: (rig) => (rig.abortAfterVerdict = true),
  },
  approval: {
    'allowed-once': (rig) => (rig.answer = () => ({ kind: 'allow-once' })),
    rejected: (rig) => (rig.answer = () => ({ kind: 'reject' })),
    cancelled: (rig) => (rig.answer = () => ({ kind: 'cancel' })),
    unavailable: byItself,
    threw: (rig) => (rig.untouchableApproval = true),
    aborted: (rig) => (rig.answer = rig.stop),
  },
  guards: {
    pass: byItself,
    deny: (rig) => (rig.guard = () => 'not now'),
    threw: (rig) => (rig.guard = rig.raise),
    aborted: (rig) => (rig.abortInQueue = true),
  },
  execute: {
    done: byItself,
    threw: (rig) => (rig.wrap = rig.raise),
    expired: (rig) => (rig.wrap = rig.hang),
  },
  denied: { denied: byItself },
  'post-execute': {
    accept: byItself,
    replace: (rig) => (rig.review = () => ({ kind: 'replace', content: 'other' })),
    block: (rig) => (rig.review = () => ({ kind: 'block', reason: 'look again' })),
    threw: (rig) => (rig.review = rig.raise),
    expired: (rig) => (rig.review = rig.hang),
  },
  normalize: { normalized: byItself },
  finalize: { finalized: byItself, dropped: (rig) => (rig.finalize = rig.raise) },
  result: { recorded: byItself },
}

function ruleOf({ stage, outcome }: Step): Rule {
  const row = (rules as Record<string, Record<string, Rule>>)[stage]
  const rule = row && Object.hasOwn(row, outcome) ? row[outcome] : undefined
  if (!rule) throw new Error(`no rule steers a call to ${stage}:${outcome}; add one to steering.ts`)
  return rule
}

export interface Drive {
  readonly bench: Bench
  readonly settled: SettledCall
  readonly account: Explanation | undefined
  readonly runs: number
  readonly finalised: number
  readonly announced: number
  readonly asked: number
}

/** Makes a call that is steered along `path`, and says what happened. */
export async function drive(path: readonly Step[]): Promise<Drive> {
  const rig = new Rig()
  for (const step of path) ruleOf(step)(rig)
  const faults: Faults = {
    write(event) {
      if (rig.refuseCall && event.type === 'tool/call') {
        rig.refuseCall = false
        throw new Error('disk full')
      }
    },
  }
  const bench = await makeBench({
    approval: !rig.untouchableApproval,
    store: faultyStore(faults),
    config: { listenerTimeoutMs: 100 },
  })
  const counts = { finalised: 0, announced: 0, asked: 0 }
  const screened = path.some(({ stage }) => stage === 'screen')
  const subject = probeTool({
    name: 'subject',
    parameters: { type: 'object', required: ['x'] },
    finalizeContent() {
      counts.finalised++
      return rig.finalize()
    },
  })
  await bench.register(subject.definition)
  await bench.plugin('permissions', (ctx) => {
    let guarded = 0
    ctx.tools.guard('steered', ({ tool }) => {
      if (tool !== 'subject') return undefined
      return screened && guarded++ === 0 ? rig.screen() : rig.guard()
    })
    const steered = <Next>(listener: (next: Next) => unknown) =>
      ((call: { tool: string }, ...rest: unknown[]) => {
        const next = rest.at(-1) as Next & (() => unknown)
        return call.tool === 'subject' ? listener(next) : next()
      }) as never
    ctx.on(
      'tools/prepare',
      steered((next: () => unknown) => rig.prepare(next)),
    )
    ctx.on(
      'tools/pre-execute',
      steered((next: () => unknown) => {
        const verdict = rig.verdict(next)
        if (rig.abortAfterVerdict) rig.abort.abort(new Error('stop'))
        return verdict
      }),
    )
    ctx.on(
      'tools/execute',
      steered((next: () => Promise<Attempt>) => rig.wrap(next)),
    )
    ctx.on(
      'tools/post-execute',
      steered((next: () => unknown) => rig.review(next)),
    )
    ctx.on('tools/result', ({ id }) => void (id === 'subject' && counts.announced++))
  })
  if (rig.untouchableApproval) await provideUntouchable(bench)
  else
    await bench.ctx.plugin({
      name: 'person',
      inject: ['approval'],
      apply: (ctx) =>
        void ctx.approval.answerer('person', async ({ callId }) => {
          counts.asked++
          const answer = await rig.answer()
          return answer === undefined ? undefined : ({ callId, ...(answer as object) } as never)
        }),
    })
  const over = deferred()
  const blocker = rig.abortInQueue ? await occupy(bench, over.promise, rig) : undefined
  const settled = await bench.call(rig.tool, rig.args as never, { id: 'subject', signal: rig.abort.signal })
  over.resolve()
  await blocker?.settling
  return { bench, settled, runs: subject.runs, account: explain(bench.session.events, 'subject'), ...counts }
}

/** Another call takes the slot first; the abort comes when nothing else can happen. */
async function occupy(bench: Bench, over: Promise<void>, { abort }: Rig) {
  await bench.register(probeTool({ name: 'blocker', body: () => over }).definition)
  const settling = bench.call('blocker')
  await flushMicrotasks()
  bench.world.clock.timer(10, () => abort.abort(new Error('stop')))
  return { settling }
}

async function provideUntouchable(bench: Bench): Promise<void> {
  let armed = false
  const service = new Proxy(
    {},
    {
      get() {
        if (armed) throw new Error('tripped')
      },
    },
  )
  await bench.ctx.plugin({
    name: 'approval',
    provide: ['approval'],
    apply: (ctx) => void ctx.provide('approval', service as never),
  })
  armed = true
}
