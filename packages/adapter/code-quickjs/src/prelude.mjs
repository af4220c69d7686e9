/**
 * Owns the first code of every world: bindings, console, sleep, and the strict JSON border. It runs before the program and takes
 * what it needs of the world's globals, so that a program that changes them harms itself only.
 */
export const prelude = String.raw`(function (host, names, callsMax, batchCalls, batchChars) {
  'use strict'
  const { stringify, parse } = JSON
  const { keys, freeze, create, getPrototypeOf, defineProperty, prototype: objectPrototype } = Object
  const { isArray } = Array
  const { isFinite } = Number
  const PromiseOf = Promise
  const ErrorOf = Error
  const TypeErrorOf = TypeError
  const text = String
  const DEPTH_MAX = 500
  const TIMER_MAX = 2147483647

  class ToolError extends ErrorOf {
    constructor(fields) {
      super(fields.reason)
      this.name = 'ToolError'
      this.code = fields.code
      this.tool = fields.tool
      this.reason = fields.reason
      this.executed = fields.executed
    }
  }

  // Where the writer is: trail[depth] is the key under which it looks.
  const trail = create(null)
  function refuse(depth, why) {
    let path = '$'
    for (let i = 0; i < depth && i < 20; i++) path += typeof trail[i] === 'number' ? '[' + trail[i] + ']' : '.' + trail[i]
    throw new TypeErrorOf((depth > 20 ? path + '…' : path) + ': ' + why)
  }

  // The text is written here: what JSON would drop, change or ask (toJSON) is refused with its path, and each field is read once.
  // An undefined field is left out, as in an object literal.
  function write(value, depth) {
    switch (typeof value) {
      case 'string':
        return stringify(value)
      case 'number':
        if (!isFinite(value)) refuse(depth, value + ' is not JSON')
        return value === 0 ? '0' : '' + value
      case 'boolean':
        return value ? 'true' : 'false'
      case 'object':
        break
      default:
        refuse(depth, typeof value + ' is not JSON')
    }
    if (value === null) return 'null'
    if (depth >= DEPTH_MAX) refuse(depth, 'nested too deep, or a cycle')
    if (isArray(value)) {
      let made = '['
      const { length } = value
      for (let i = 0; i < length; i++) {
        trail[depth] = i
        made += (i === 0 ? '' : ',') + write(value[i], depth + 1)
      }
      return made + ']'
    }
    const prototype = getPrototypeOf(value)
    if (prototype !== objectPrototype && prototype !== null) refuse(depth, 'an instance of a class is not JSON')
    const own = keys(value)
    let made = '{'
    for (let i = 0; i < own.length; i++) {
      const key = own[i]
      const item = value[key]
      if (item === undefined) continue
      trail[depth] = key
      made += (made === '{' ? '' : ',') + stringify(key) + ':' + write(item, depth + 1)
    }
    return made + '}'
  }

  // What settles those who wait for a reply, by number; a number is used again when its reply has come.
  const resolves = []
  const rejects = []
  const unused = []
  let used = 0
  let spare = 0
  let made = 0
  let over = false
  // Calls that the host has not been given yet.
  let batch = ''
  let batched = 0

  function take() {
    const taken = batched === 0 ? '-' : batch
    batch = ''
    batched = 0
    return taken
  }

  // A call is [number, index of its binding, arguments]; a sleep has no binding.
  function submit(index, args) {
    return new PromiseOf((resolve, reject) => {
      const json = args === undefined ? '{}' : write(args, 0)
      if (over) return
      if (made === callsMax) return host.exceeded()
      made++
      const number = spare > 0 ? unused[--spare] : used++
      resolves[number] = resolve
      rejects[number] = reject
      batch += (batched === 0 ? '[' : ',[') + number + ',' + index + ',' + json + ']'
      if (++batched >= batchCalls || batch.length > batchChars) host.flush(take())
    })
  }

  const tools = create(null)
  for (let i = 0; i < names.length; i++)
    tools[names[i]] = freeze((args) => submit(i, args))

  function shown(value) {
    if (typeof value === 'string') return value
    try {
      if (value instanceof ErrorOf) return text(value)
      const made = stringify(value)
      return made === undefined ? text(value) : made
    } catch {
      return '[something that cannot be shown]'
    }
  }
  function print(...values) {
    let line = ''
    for (let i = 0; i < values.length; i++) line += (i === 0 ? '' : ' ') + shown(values[i])
    host.log(line)
  }

  const global = globalThis
  const define = (name, value) => defineProperty(global, name, { value, enumerable: false, writable: false, configurable: false })
  define('tools', freeze(tools))
  define('ToolError', ToolError)
  define('console', freeze({ log: print, info: print, debug: print, warn: print, error: print }))
  define('sleep', (ms) => {
    const time = +ms
    return submit(-1, time > 0 ? (time < TIMER_MAX ? time : TIMER_MAX) : 0)
  })

  function described(error) {
    let name = 'Error'
    let message = ''
    let stack = ''
    try {
      if (error instanceof ErrorOf) {
        name = text(error.name)
        message = text(error.message)
        stack = text(error.stack)
      } else message = shown(error)
    } catch {
      message = 'something that cannot be shown was thrown'
    }
    return '[' + stringify(name) + ',' + stringify(message) + ',' + stringify(stack) + ']'
  }

  async function start(program) {
    let ok = true
    let json
    try {
      const value = await program()
      json = value === undefined ? 'null' : write(value, 0)
    } catch (error) {
      ok = false
      json = described(error)
    }
    over = true
    host.done(ok, json)
  }

  // A reply is [number, value] or [number, null, fields of the error].
  function settle(batch) {
    const replies = parse(batch)
    for (let i = 0; i < replies.length; i++) {
      const reply = replies[i]
      const number = reply[0]
      const resolve = resolves[number]
      const reject = rejects[number]
      resolves[number] = rejects[number] = undefined
      unused[spare++] = number
      if (reply.length === 2) resolve(reply[1])
      else reject(new ToolError(reply[2]))
    }
  }

  const waits = () => used > spare

  return { start, settle, take, waits }
})`
