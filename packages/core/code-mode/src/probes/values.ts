/** Owns the probes of what a program is given and gives. */
import type { Json } from '@sluice/base'
import type { Probe } from './probe.ts'

export const values: readonly Probe[] = [
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
    title: 'names that are no identifiers, or are words of the language, can be called',
    program: `return await Promise.all(['odd-name', 'odd_name', 'delete', '__proto__', 'constructor', 'then'].map((name) =>
      tools[name]({ name }).then((got) => got.name)))`,
    value: ['odd-name', 'odd_name', 'delete', '__proto__', 'constructor', 'then'],
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
  {
    title: 'a ToolError that nobody catches fails the program',
    program: 'await tools.fail({})',
    fails: 'exception',
    saying: 'ToolError: why',
  },
  { title: 'a call that nobody awaits does not hold the program', program: 'tools.never({}); return 1', value: 1 },
  {
    title: 'a failure that nobody awaits is no failure of the program',
    program: 'tools.fail({}); await sleep(1); return 1',
    value: 1,
  },
  {
    title: 'a rejection of its own that nobody handles is no failure of the program',
    program: 'Promise.reject(new Error("mine")); (async () => { throw 1 })(); await sleep(1); return 1',
    value: 1,
  },
  { title: 'sleep waits', program: 'await sleep(2); return "woke"', value: 'woke' },
  {
    title: 'times to sleep that are none are none',
    program: 'for (const ms of [0, -1, NaN, undefined, "x"]) await sleep(ms); return 1',
    value: 1,
  },
  {
    title: 'an error is shown with its line',
    program: 'const a = 1\nthrow new TypeError("no")',
    fails: 'exception',
    saying: 'no',
  },
  { title: 'a program that cannot be parsed fails', program: 'return (', fails: 'exception', saying: 'parse' },
  {
    title: 'a promise of another kind is awaited',
    program: 'return { then(settle) { settle([1]); settle([2]); throw new Error("late") } }',
    value: [1],
  },
  {
    title: 'generators work',
    program:
      'async function* f() { yield 1; yield 2 }; const all = []; for await (const x of f()) all.push(x); return all',
    value: [1, 2],
  },
  {
    title: 'a million microtasks run',
    program: 'let n = 0; for (let i = 0; i < 1e6; i++) { await null; n++ } return n',
    value: 1_000_000,
  },
  {
    title: '__proto__ in a result is data',
    program: 'return JSON.parse(\'{"__proto__":{"x":1}}\')',
    value: JSON.parse('{"__proto__":{"x":1}}') as Json,
  },
  {
    title: '__proto__ in arguments and in what comes back is data',
    program:
      'const got = await tools.echo(JSON.parse(\'{"__proto__":{"x":1}}\')); return [got.x === undefined, Object.keys(got)]',
    value: [true, ['__proto__']],
  },
  {
    title: 'a result can be nested as deep as JSON is taken',
    program: 'let a = 1; for (let i = 0; i < 499; i++) a = [a]; return JSON.stringify(a).length',
    value: 999,
  },
]
