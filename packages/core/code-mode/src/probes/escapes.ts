/** Owns the probes that try to get out of their world. */
import type { Probe } from './probe.ts'

export const escapes: readonly Probe[] = [
  { title: 'modules cannot be imported', program: 'return await import("node:fs")', fails: 'exception' },
  {
    title: 'the globals are those of the language and four more',
    program: `const own = ['console', 'sleep', 'ToolError', 'tools']
      const language = /^(?:[A-Z]\\w*(?:Error|Array|Ref|Registry)|Array|Object|Function|Iterator|Infinity|NaN|undefined|Number|Boolean|String|Math|Reflect|Symbol|Generator|Date|RegExp|JSON|Proxy|Map|Set|WeakMap|WeakSet|ArrayBuffer|SharedArrayBuffer|DataView|Atomics|Promise|BigInt|performance|globalThis|queueMicrotask|eval|parse(?:Int|Float)|is(?:NaN|Finite)|(?:de|en)codeURI(?:Component)?|(?:un)?escape|Error|DOMException)$/
      const names = Reflect.ownKeys(globalThis).filter((name) => typeof name === 'string')
      return [names.filter((name) => !language.test(name)).sort(), [typeof process, typeof require, typeof fetch, typeof setTimeout, typeof WebAssembly]]`,
    value: [
      ['console', 'sleep', 'tools'],
      ['undefined', 'undefined', 'undefined', 'undefined', 'undefined'],
    ],
  },
  {
    title: 'constructor chains lead to the own world only',
    program: `const seen = [tools.echo, sleep, console.log, ToolError, (await tools.echo({ a: [] })).a].map((thing) =>
      thing.constructor.constructor("return [typeof process, typeof require, this === globalThis].join()")())
      try { await tools.fail({}) } catch (error) { seen.push(error.constructor.constructor("return typeof process")()) }
      return [...new Set(seen)]`,
    value: ['undefined,undefined,true', 'undefined'],
  },
  {
    title: 'eval and Function see the own world only',
    program: 'return [eval("typeof process"), new Function("return typeof require")(), (0, eval)("typeof parentPort")]',
    value: ['undefined', 'undefined', 'undefined'],
  },
  {
    title: 'callers and arguments of the border cannot be reached',
    program: `const seen = []
      Promise.prototype.then = function (...args) { seen.push(args.length); return Reflect.apply(then, this, args) }
      try { seen.push(typeof tools.echo.caller, typeof tools.echo.arguments) } catch (error) { seen.push(error.name) }
      function then() {}
      return seen.length`,
    value: 1,
  },
  {
    title: 'bindings cannot be exchanged',
    program: '"use strict"; try { tools.echo = () => 1 } catch { return "frozen" }',
    value: 'frozen',
  },
  {
    title: 'tampering with prototypes harms the program only',
    program: `Promise.prototype.then = function () { throw new Error('mine') }
      Array.prototype.push = Array.prototype.join = null
      Object.prototype.get = Object.prototype.set = () => 'mine'
      Object.keys = Object.getPrototypeOf = Array.isArray = JSON.parse = JSON.stringify = String = Promise = Error = TypeError = () => 'mine'
      Number.isFinite = () => true
      return [await tools.echo({ a: [1] })]`,
    value: [{ a: [1] }],
  },
  {
    title: 'tampering with lists harms the program only',
    program: `Object.defineProperty(Array.prototype, 0, { set() { throw new Error('mine') }, get: () => 'mine' })
      return await tools.echo({ n: 1 })`,
    fails: 'exception',
  },
  {
    title: 'tampering with species and iterators harms the program only',
    program: `Object.defineProperty(Promise, Symbol.species, { get() { throw new Error('mine') } })
      Object.defineProperty(Array, Symbol.species, { get() { throw new Error('mine') } })
      Array.prototype[Symbol.iterator] = () => { throw new Error('mine') }
      console.log(1, 2)
      return await tools.echo({ n: [1] })`,
    value: { n: [1] },
  },
  {
    title: 'a global set by one run is not seen by the next',
    program: 'globalThis.leak = 1; Object.prototype.leak = 2; return typeof globalThis.leak',
    value: 'number',
  },
  {
    title: 'a program that closes the function around it is in the same world',
    program: '}); globalThis.leak = typeof process; (() => {',
    value: null,
  },
]
