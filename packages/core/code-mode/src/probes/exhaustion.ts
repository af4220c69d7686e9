/** Owns the probes that try to use up time, memory or the border. */
import { type Probe, soon } from './probe.ts'

const little = { memoryBytes: 8 * 1024 * 1024 }
/** So much may cross that memory ends first. */
const wide = { ...little, transferBytes: 500 * 1024 * 1024 }

export const exhaustion: readonly Probe[] = [
  { title: 'a loop without end is ended', program: 'for (;;) {}', fails: 'timeout', limits: soon },
  { title: 'a loop after an await is ended', program: 'await null; for (;;) {}', fails: 'timeout', limits: soon },
  {
    title: 'a loop after a call is ended',
    program: 'await tools.echo({}); for (;;) {}',
    fails: 'timeout',
    limits: soon,
  },
  { title: 'microtasks without end are ended', program: 'for (;;) await null', fails: 'timeout', limits: soon },
  {
    title: 'a loop that catches everything is ended',
    program: 'for (;;) try { for (;;) {} } catch {} finally { continue }',
    fails: 'timeout',
    limits: soon,
  },
  {
    title: 'a generator without end is ended',
    program: 'async function* f() { for (;;) yield 1 }; for await (const x of f());',
    fails: 'timeout',
    limits: soon,
  },
  {
    title: 'a regular expression that backtracks for ever is ended',
    program: 'return /(a+)+$/.test("a".repeat(60) + "b")',
    fails: 'timeout',
    limits: soon,
  },
  {
    title: 'work of the engine that does not notice its limits is ended from outside',
    program: 'return new Array(2 ** 32 - 1).indexOf(1)',
    fails: 'timeout',
    limits: soon,
  },
  {
    title: 'such work after a sleep is ended as well',
    program: 'await sleep(1); return new Array(2 ** 32 - 1).indexOf(1)',
    fails: 'timeout',
    limits: soon,
  },
  {
    title: 'such work while other calls settle is ended as well',
    program:
      'const all = [1, 2, 3].map((n) => tools.echo({ n })); await all[0]; return new Array(2 ** 32 - 1).indexOf(1)',
    fails: 'timeout',
    limits: soon,
  },
  {
    title: 'loops inside the makers of promises, which catch everything, are ended',
    program: 'for (;;) new Promise(() => { for (;;) {} })',
    fails: 'timeout',
    limits: soon,
  },
  {
    title: 'output inside the makers of promises is bounded',
    program: 'for (;;) new Promise(() => console.log("x".repeat(500)))',
    fails: 'output',
  },
  {
    title: 'numbers without end are ended',
    program: 'let x = 3n; for (;;) x *= x',
    fails: 'exception',
    saying: 'BigInt',
  },
  { title: 'memory in one string is bounded', program: 'return "a".repeat(2 ** 29).length', fails: 'memory' },
  {
    title: 'memory in many objects is bounded',
    program: 'const all = []; for (;;) all.push({ a: [1, 2, 3] })',
    fails: 'memory',
    limits: little,
  },
  {
    title: 'memory in bytes is bounded',
    program: 'const all = []; for (;;) all.push(new Uint8Array(2 ** 20))',
    fails: 'memory',
    limits: little,
  },
  {
    title: 'memory in promises is bounded',
    program: 'const all = []; for (;;) all.push(new Promise(() => {}))',
    fails: 'memory',
    limits: little,
  },
  {
    title: 'a result that is larger than its memory is refused',
    program: 'const s = "x".repeat(1e6); return Array.from({ length: 20 }, () => s)',
    fails: 'memory',
    limits: wide,
  },
  {
    title: 'an answer that is larger than its memory is refused',
    program: 'return (await tools.huge({})).length',
    fails: 'memory',
    limits: wide,
  },
  {
    title: 'answers that are together longer than a string can be are refused',
    program: 'return (await Promise.all(Array.from({ length: 20 }, () => tools.huge({})))).length',
    fails: 'output',
  },
  {
    title: 'recursion without end is ended',
    program: 'const f = () => f() + 1; return f()',
    fails: 'exception',
    saying: 'stack',
  },
  {
    title: 'recursion through a getter on a result is ended',
    program: 'const a = { get a() { return a.a } }; return a',
    fails: 'exception',
    saying: 'stack',
  },
  {
    title: 'JSON that is nested without end is refused',
    program: 'return JSON.parse("[".repeat(1e6))',
    fails: 'exception',
    saying: 'stack',
  },
  { title: 'a flood of output is ended', program: 'for (;;) console.log("x".repeat(100))', fails: 'output' },
  {
    title: 'output of one huge object is ended',
    program: 'const s = "x".repeat(1e5); console.log({ all: Array.from({ length: 50 }, () => s) })',
    fails: 'output',
  },
  {
    title: 'output of what cannot be shown harms nobody',
    program:
      'const a = {}; a.a = a; console.log(a, Symbol("s"), 1n, { toJSON() { throw 1 } }, new Proxy({}, { get() { throw 1 } }), undefined); return 1',
    value: 1,
  },
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
    title: 'sleeps without end are ended',
    program: 'for (;;) sleep(1e9)',
    fails: 'exception',
    saying: '1000 calls',
  },
  {
    title: 'what crosses the border is bounded',
    program: 'const s = "x".repeat(1e6); for (;;) await tools.echo({ s })',
    fails: 'output',
  },
  {
    title: 'a failure whose text is huge is bounded',
    program: 'throw new Error("x".repeat(1e7))',
    fails: 'output',
  },
]
