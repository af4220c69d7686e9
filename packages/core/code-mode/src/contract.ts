/** Owns the cases that every code runtime must pass: values, calls, limits, and probes that must not get out. */
import { assert, type Json } from '@sluice/base'
import type { CodeFailureKind, CodeLimits, CodeOutcome, CodeReply, CodeRuntime } from './types.ts'

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

interface Probe {
  readonly title: string
  readonly program: string
  /** The value that the program ends with, or the kind of its failure. */
  readonly value?: Json
  readonly fails?: CodeFailureKind
  /** Part of the failure's message. */
  readonly saying?: string
  readonly limits?: Partial<CodeLimits>
}

const probes: readonly Probe[] = [
  {
    title: 'a program returns JSON',
    program: 'return { a: [1, "x", null, true] }',
    value: { a: [1, 'x', null, true] },
  },
  {
    title: 'types are stripped',
    program: 'const n: number = 2; interface A { b?: string }; return n as unknown',
    value: 2,
  },
  { title: 'nothing returned is null', program: 'tools', value: null },
  { title: 'a call resolves to its value', program: 'return await tools.echo({ n: 1 })', value: { n: 1 } },
  {
    title: 'a name that is no identifier can be called',
    program: 'return await tools["odd-name"]({ n: 2 })',
    value: { n: 2 },
  },
  {
    title: 'calls overlap and keep their answers apart',
    program: 'return await Promise.all([1, 2, 3].map((n) => tools.echo({ n })))',
    value: [{ n: 1 }, { n: 2 }, { n: 3 }],
  },
  {
    title: 'a failed call rejects with a ToolError',
    program:
      'try { await tools.fail({}) } catch (e) { return [e instanceof ToolError, e.code, e.tool, e.reason, e.executed] }',
    value: [true, 'NO', 'fail', 'why', 'no'],
  },
  { title: 'a call that nobody awaits does not hold the program', program: 'tools.never({}); return 1', value: 1 },
  {
    title: 'a failure that nobody awaits is no failure of the program',
    program: 'tools.fail({}); await sleep(1); return 1',
    value: 1,
  },
  { title: 'sleep waits', program: 'await sleep(2); return "woke"', value: 'woke' },
  {
    title: 'an error is shown with its line',
    program: 'const a = 1\nthrow new TypeError("no")',
    fails: 'exception',
    saying: 'no',
  },
  { title: 'a program that cannot be parsed fails', program: 'return (', fails: 'exception', saying: 'parse' },
  { title: 'a function is no result', program: 'return { a: [() => 1] }', fails: 'exception', saying: '$.a[0]' },
  { title: 'a bigint is no result', program: 'return 1n', fails: 'exception', saying: 'bigint' },
  { title: 'a cycle is no result', program: 'const a = {}; a.a = a; return a', fails: 'exception' },
  {
    title: 'a getter on a result that throws fails the program',
    program: 'return { get a() { throw new Error("got") } }',
    fails: 'exception',
    saying: 'got',
  },
  {
    title: 'a proxy as argument is read once',
    program:
      'let n = 0; const p = new Proxy({ a: 1 }, { get: (t, k) => (k === "a" ? ++n : t[k]) }); return await tools.echo(p)',
    value: { a: 1 },
  },
  { title: 'a loop without end is ended', program: 'for (;;) {}', fails: 'timeout', limits: { activeMs: 300 } },
  {
    title: 'a loop after an await is ended',
    program: 'await null; for (;;) {}',
    fails: 'timeout',
    limits: { activeMs: 300 },
  },
  {
    title: 'microtasks without end are ended',
    program: 'for (;;) await null',
    fails: 'timeout',
    limits: { activeMs: 300 },
  },
  {
    title: 'a regular expression that backtracks for ever is ended',
    program: 'return /(a+)+$/.test("a".repeat(60) + "b")',
    fails: 'timeout',
    limits: { activeMs: 300 },
  },
  { title: 'memory in one string is bounded', program: 'return "a".repeat(2 ** 29).length', fails: 'memory' },
  {
    title: 'memory in many objects is bounded',
    program: 'const all = []; for (;;) all.push({ a: [1, 2, 3] })',
    fails: 'memory',
  },
  {
    title: 'recursion without end is ended',
    program: 'const f = () => f() + 1; return f()',
    fails: 'exception',
    saying: 'stack',
  },
  { title: 'a flood of output is ended', program: 'for (;;) console.log("x".repeat(100))', fails: 'output' },
  {
    title: 'a promise that never settles is noticed',
    program: 'await new Promise(() => {})',
    fails: 'exception',
    saying: 'never settles',
  },
  {
    title: 'calls without end are ended',
    program: 'for (;;) await tools.echo({})',
    fails: 'exception',
    saying: '1000 calls',
  },
  {
    title: 'what crosses the border is bounded',
    program: 'const s = "x".repeat(1e6); for (;;) await tools.echo({ s })',
    fails: 'output',
  },
  { title: 'modules cannot be imported', program: 'return await import("node:fs")', fails: 'exception' },
  {
    title: 'there is no host global',
    program:
      'return [typeof process, typeof require, typeof fetch, typeof setTimeout, typeof WebAssembly, typeof SharedArrayBuffer === "undefined" || true]',
    value: ['undefined', 'undefined', 'undefined', 'undefined', 'undefined', true],
  },
  {
    title: 'constructor chains lead to the own world only',
    program: 'return tools.echo.constructor.constructor("return typeof process")()',
    value: 'undefined',
  },
  {
    title: 'eval and Function see the own world only',
    program: 'return [eval("typeof process"), new Function("return typeof require")()]',
    value: ['undefined', 'undefined'],
  },
  {
    title: 'bindings cannot be exchanged',
    program: '"use strict"; try { tools.echo = () => 1 } catch { return "frozen" }',
    value: 'frozen',
  },
  {
    title: 'tampering with prototypes harms the program only',
    program:
      'Promise.prototype.then = function () { throw new Error("mine") }; Array.prototype.push = null; JSON.stringify = () => "{}"; return 1',
    fails: 'exception',
  },
  {
    title: '__proto__ in a result is data',
    program: 'return JSON.parse(\'{"__proto__":{"x":1}}\')',
    value: JSON.parse('{"__proto__":{"x":1}}') as Json,
  },
  {
    title: 'a global set by one run is not seen by the next',
    program: 'globalThis.leak = 1; return typeof globalThis.leak',
    value: 'number',
  },
]

const call = async (binding: string, args: Json): Promise<CodeReply> => {
  if (binding === 'fail') return { ok: false, code: 'NO', tool: 'fail', reason: 'why', executed: 'no' }
  if (binding === 'never') return new Promise(() => {})
  return { ok: true, value: args }
}

function play(
  runtime: CodeRuntime,
  program: string,
  limits: Partial<CodeLimits> = {},
  signal = new AbortController().signal,
) {
  const bindings = ['echo', 'fail', 'never', 'odd-name']
  return runtime.run({ program, bindings, limits: { ...contractLimits, ...limits }, signal, call })
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
  const { outcome } = play(runtime, 'return [1 + 1, typeof globalThis.leak]')
  const after = await outcome
  assert(after.kind === 'value' && JSON.stringify(after.value) === '[2,"undefined"]', JSON.stringify(after))
}

export interface CodeCase {
  readonly title: string
  run(runtime: CodeRuntime): Promise<void>
}

export const codeContract: readonly CodeCase[] = [
  ...probes.map((probe) => ({
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
    title: 'an abort ends a program that waits, and one that computes',
    async run(runtime) {
      for (const program of ['await tools.never({})', 'for (;;) {}']) {
        const controller = new AbortController()
        const { outcome } = play(runtime, program, { activeMs: 60_000 }, controller.signal)
        controller.abort(new Error('stop'))
        assert((await outcome).kind === 'abort', program)
      }
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
      await worksAfterwards(runtime)
    },
  },
  {
    title: 'several programs run at once without seeing each other',
    async run(runtime) {
      const all = [1, 2, 3].map(
        (n) => play(runtime, `globalThis.x = ${n}; await sleep(1); return globalThis.x`).outcome,
      )
      const values = (await Promise.all(all)).map((outcome) =>
        outcome.kind === 'value' ? outcome.value : outcome.kind,
      )
      assert(JSON.stringify(values) === '[1,2,3]', JSON.stringify(values))
    },
  },
]
