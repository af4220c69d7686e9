/** Owns the cases that every code runtime must pass: each probe, and what takes more than one program. */
import { assert, type Json } from '@sluice/base'
import { escapes } from './probes/escapes.ts'
import { exhaustion } from './probes/exhaustion.ts'
import { forging } from './probes/forging.ts'
import { notJson } from './probes/not-json.ts'
import type { Probe } from './probes/probe.ts'
import { values } from './probes/values.ts'
import type { CodeLimits, CodeOutcome, CodeReply, CodeRequest, CodeRuntime } from './types.ts'

/** Small limits: probes run into them. Time is short only where a probe is to run out of it. */
export const contractLimits: CodeLimits = {
  activeMs: 30_000,
  wallMs: 60_000,
  memoryBytes: 32 * 1024 * 1024,
  stackBytes: 256 * 1024,
  outputBytes: 10_000,
  callsMax: 1_000,
  transferBytes: 4 * 1024 * 1024,
}

const bindings = ['echo', 'fail', 'huge', 'never', 'odd-name', 'odd_name', 'delete', '__proto__', 'constructor', 'then']

const call = async (binding: string, args: Json): Promise<CodeReply> => {
  if (binding === 'fail') return { ok: false, code: 'NO', tool: 'fail', reason: 'why', executed: 'no' }
  if (binding === 'never') return new Promise(() => {})
  if (binding === 'huge') return { ok: true, value: 'x'.repeat(contractLimits.memoryBytes) }
  return { ok: true, value: args }
}

function play(
  runtime: CodeRuntime,
  program: string,
  limits: Partial<CodeLimits> = {},
  more: Partial<Pick<CodeRequest, 'signal' | 'call'>> = {},
) {
  const { signal } = new AbortController()
  return runtime.run({ program, bindings, limits: { ...contractLimits, ...limits }, signal, call, ...more })
}

function hold(outcome: CodeOutcome, { title, value, fails, saying }: Probe): void {
  const told = JSON.stringify(outcome).slice(0, 500)
  if (outcome.kind === 'value') assert(JSON.stringify(outcome.value) === JSON.stringify(value), `${title}: ${told}`)
  else {
    assert(outcome.kind === fails, `${title}: ${told}`)
    assert(saying === undefined || outcome.message.includes(saying), `${title}: ${told}`)
  }
}

/** After each probe a fresh run works, and sees nothing of the one before. */
async function worksAfterwards(runtime: CodeRuntime): Promise<void> {
  const { outcome } = play(
    runtime,
    'return [1 + 1, typeof globalThis.leak, typeof {}.leak, await tools.echo({ a: 1 })]',
  )
  const after = await outcome
  const right = '[2,"undefined","undefined",{"a":1}]'
  assert(after.kind === 'value' && JSON.stringify(after.value) === right, JSON.stringify(after))
}

export interface CodeCase {
  readonly title: string
  run(runtime: CodeRuntime): Promise<void>
}

export const codeContract: readonly CodeCase[] = [
  ...[...values, ...notJson, ...exhaustion, ...escapes].map((probe) => ({
    title: probe.title,
    async run(runtime: CodeRuntime) {
      hold(await play(runtime, probe.program, probe.limits).outcome, probe)
      await worksAfterwards(runtime)
    },
  })),
  {
    title: 'console lines are given in order',
    async run(runtime) {
      const { output } = await play(runtime, 'console.log("a", { b: 1 }); console.error("c"); return 1').outcome
      assert(JSON.stringify(output) === '["a {\\"b\\":1}","c"]', JSON.stringify(output))
    },
  },
  {
    title: 'what a program printed before it was ended from outside is given',
    async run(runtime) {
      const { output } = await play(runtime, 'console.log("before"); await tools.never({})', { wallMs: 20 }).outcome
      assert(JSON.stringify(output) === '["before"]', JSON.stringify(output))
    },
  },
  {
    title: 'calls reach the host in the order in which they were made, each once, and are counted',
    async run(runtime) {
      const seen: Json[] = []
      const program = 'for (let i = 0; i < 300; i++) tools.echo(i); await tools.echo(300); sleep(0); return 1'
      const { calls } = await play(runtime, program, {}, { call: (binding, n) => (seen.push(n), call(binding, n)) })
        .outcome
      assert(JSON.stringify(seen) === JSON.stringify(Array.from({ length: 301 }, (_, i) => i)), JSON.stringify(seen))
      assert(calls === 301, `${calls} calls`)
    },
  },
  {
    title: 'no call is made after the end',
    async run(runtime) {
      for (const late of [
        '(async () => { for (let i = 0; i < 100; i++) await null; tools.echo(1) })()',
        'sleep(1).then(() => tools.echo(1))',
        'tools.fail({}).catch(() => tools.echo(1))',
        'Promise.resolve().then(() => new Promise(() => {})).finally(() => tools.echo(1))',
      ]) {
        let made = 0
        const counting = { call: (binding: string, args: Json) => (binding === 'echo' && made++, call(binding, args)) }
        const outcome = await play(runtime, `${late}; return 1`, {}, counting).outcome
        assert(outcome.kind === 'value' && outcome.value === 1, `${late}: ${JSON.stringify(outcome)}`)
        await worksAfterwards(runtime)
        assert(made === 0, `${late}: ${made} calls`)
      }
    },
  },
  {
    title: 'of 100,000 calls those within the limit are made',
    async run(runtime) {
      let made = 0
      const counting = { call: (binding: string, args: Json) => (made++, call(binding, args)) }
      const program = 'await Promise.all(Array.from({ length: 100_000 }, (_, n) => tools.echo({ n })))'
      const outcome = await play(runtime, program, {}, counting).outcome
      assert(outcome.kind === 'exception' && outcome.message.includes('1000 calls'), JSON.stringify(outcome))
      assert(made <= contractLimits.callsMax, `${made} calls`)
      await worksAfterwards(runtime)
    },
  },
  {
    title: 'a program that gets at what its world sends calls its bindings only, and no more often than it may',
    async run(runtime) {
      const seen: string[] = []
      const watching = { call: (binding: string, args: Json) => (seen.push(binding), call(binding, args)) }
      for (const program of forging) {
        seen.length = 0
        await play(runtime, program, { callsMax: 50 }, watching).outcome
        await worksAfterwards(runtime)
        assert(seen.length > 0 && seen.length <= 50, `${seen.length} calls`)
        assert(
          seen.every((binding) => bindings.includes(binding)),
          seen.map(String).join(),
        )
      }
    },
  },
  {
    title: 'an answer that is not JSON ends the program, and not the host',
    async run(runtime) {
      const broken = { call: () => Promise.resolve({ ok: true, value: 1n as unknown as Json } as const) }
      const outcome = await play(runtime, 'return await tools.echo({})', {}, broken).outcome
      assert(outcome.kind === 'crash', outcome.kind)
      await worksAfterwards(runtime)
    },
  },
  {
    title: '100,000 calls that are allowed are made',
    async run(runtime) {
      const program = 'return (await Promise.all(Array.from({ length: 100_000 }, (_, n) => tools.echo(n)))).length'
      const limits = { callsMax: 100_000, transferBytes: 1e8, memoryBytes: 256 * 1024 * 1024 }
      const outcome = await play(runtime, program, limits).outcome
      assert(outcome.kind === 'value' && outcome.value === 100_000, JSON.stringify(outcome))
      await worksAfterwards(runtime)
    },
  },
  {
    title: 'a call that throws is a failed call',
    async run(runtime) {
      for (const broken of [
        () => Promise.reject(new Error('broke')),
        () => {
          throw new Error('broke')
        },
      ]) {
        const program = 'try { await tools.echo({}) } catch (e) { return [e.tool, e.executed] }'
        const outcome = await play(runtime, program, {}, { call: broken }).outcome
        assert(
          outcome.kind === 'value' && JSON.stringify(outcome.value) === '["echo","unknown"]',
          JSON.stringify(outcome),
        )
      }
    },
  },
  {
    title: 'an abort ends a program that waits, and one that computes',
    async run(runtime) {
      for (const program of ['await tools.never({})', 'for (;;) {}']) {
        const controller = new AbortController()
        const { outcome } = play(runtime, program, { activeMs: 60_000 }, { signal: controller.signal })
        controller.abort(new Error('stop'))
        assert((await outcome).kind === 'abort', program)
      }
      await worksAfterwards(runtime)
    },
  },
  {
    title: 'an abort while several calls are being made lets none of the others be made',
    async run(runtime) {
      const controller = new AbortController()
      let made = 0
      const aborting = {
        signal: controller.signal,
        call(binding: string, args: Json) {
          made++
          controller.abort(new Error('stop'))
          return call(binding, args)
        },
      }
      const { kind } = await play(
        runtime,
        'for (const n of [1, 2, 3]) tools.echo(n); await tools.never({})',
        {},
        aborting,
      ).outcome
      assert(kind === 'abort' && made === 1, `${kind}, ${made} calls`)
      await worksAfterwards(runtime)
    },
  },
  {
    title: 'the wall clock ends a program that waits, but stands still while it is paused',
    async run(runtime) {
      const late = await play(runtime, 'await tools.never({})', { wallMs: 5 }).outcome
      assert(late.kind === 'timeout', JSON.stringify(late))
      const paused = play(runtime, 'await sleep(30); return 1', { wallMs: 20 })
      paused.pause()
      const outcome = await paused.outcome
      assert(outcome.kind === 'value', JSON.stringify(outcome))
      const resumed = play(runtime, 'await sleep(5); return 1', { wallMs: 10_000 })
      for (const step of ['pause', 'pause', 'resume', 'resume', 'resume'] as const) resumed[step]()
      const later = await resumed.outcome
      assert(later.kind === 'value', JSON.stringify(later))
      await worksAfterwards(runtime)
    },
  },
  {
    title: 'several programs run at once without seeing each other',
    async run(runtime) {
      const all = Array.from({ length: 20 }, (_, n) => n).map(
        (n) => play(runtime, `globalThis.x = ${n}; await sleep(1); return globalThis.x`).outcome,
      )
      const values = (await Promise.all(all)).map((outcome) =>
        outcome.kind === 'value' ? outcome.value : outcome.kind,
      )
      assert(
        values.every((value, n) => value === n),
        JSON.stringify(values),
      )
    },
  },
]
