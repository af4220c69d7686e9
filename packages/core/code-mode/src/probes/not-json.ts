/** Owns the probes of what cannot cross the border of a program. */
import { type Probe, soon } from './probe.ts'

/** What cannot be a result, or an argument. */
const refused: readonly (readonly [what: string, expression: string, saying: string])[] = [
  ['a function', '() => 1', '$.a[0]: function'],
  ['a bigint', '1n', '$.a[0]: bigint'],
  ['a symbol', 'Symbol("s")', '$.a[0]: symbol'],
  ['undefined in an array', 'undefined', '$.a[0]: undefined'],
  ['NaN', 'NaN', '$.a[0]: NaN'],
  ['infinity', '-Infinity', '$.a[0]: -Infinity'],
  ['a date', 'new Date(0)', '$.a[0]: an instance'],
  ['a map', 'new Map([[1, 2]])', '$.a[0]: an instance'],
  ['a promise', 'Promise.resolve(1)', '$.a[0]: an instance'],
  ['an error', 'new Error("x")', '$.a[0]: an instance'],
  ['bytes', 'new Uint8Array(4)', '$.a[0]: an instance'],
]

export const notJson: readonly Probe[] = [
  ...refused.flatMap(([what, expression, saying]): Probe[] => [
    { title: `${what} is no result`, program: `return { a: [${expression}] }`, fails: 'exception', saying },
    {
      title: `${what} is no argument`,
      program: `await tools.echo({ a: [${expression}] })`,
      fails: 'exception',
      saying,
    },
  ]),
  { title: 'a cycle is no result', program: 'const a = {}; a.a = a; return a', fails: 'exception', saying: 'cycle' },
  {
    title: 'a result that is nested without end is no result',
    program: 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a',
    fails: 'exception',
    saying: 'nested too deep',
  },
  {
    title: 'minus zero is zero, and a field that is undefined is left out',
    program: 'return await tools.echo({ a: -0, b: undefined })',
    value: { a: 0 },
  },
  {
    title: 'a getter on a result that throws fails the program',
    program: 'return { get a() { throw new Error("got") } }',
    fails: 'exception',
    saying: 'got',
  },
  {
    title: 'a getter on a result is read once',
    program: 'let n = 0; return { get a() { return ++n } }',
    value: { a: 1 },
  },
  {
    title: 'a proxy as argument is read once',
    program:
      'let n = 0; const p = new Proxy({ a: 1 }, { get: (t, k) => (k === "a" ? ++n : t[k]) }); return await tools.echo(p)',
    value: { a: 1 },
  },
  {
    title: 'a proxy that claims to be a list without end is ended',
    program: 'return new Proxy([], { get: (t, k) => (k === "length" ? Infinity : 1) })',
    fails: 'timeout',
    limits: soon,
  },
  {
    title: 'a proxy that throws at everything is no result',
    program: 'return [new Proxy({}, new Proxy({}, { get() { throw new Error("trap") } }))]',
    fails: 'exception',
    saying: 'trap',
  },
  {
    title: 'toJSON is not asked',
    program:
      'Object.prototype.toJSON = Array.prototype.toJSON = String.prototype.toJSON = () => undefined; return [await tools.echo({ a: ["x"] }), 1]',
    value: [{ a: ['x'] }, 1],
  },
  {
    title: 'toJSON is not asked about an error either',
    program: 'Object.prototype.toJSON = () => undefined; throw new Error("mine")',
    fails: 'exception',
    saying: 'mine',
  },
  ...['undefined', 'null', 'Symbol("s")', '1n', 'new Proxy({}, { getPrototypeOf() { throw 1 } })'].map(
    (thrown): Probe => ({ title: `${thrown} can be thrown`, program: `throw ${thrown}`, fails: 'exception' }),
  ),
  {
    title: 'an error that cannot be read can be thrown',
    program: 'throw Object.defineProperty(new Error("x"), "name", { get() { throw new Error("again") } })',
    fails: 'exception',
  },
]
