/**
 * Owns the first code of every world: bindings, console, sleep, and the strict JSON border. It runs before the program and takes
 * what it needs of the world's globals, so that a program that changes them harms itself only.
 */
export const prelude = String.raw`(function (host, names) {
  'use strict'
  const { stringify, parse } = JSON
  const { keys, freeze, create, getPrototypeOf, defineProperty, prototype: objectPrototype } = Object
  const { isArray } = Array
  const { isFinite } = Number
  const PromiseOf = Promise
  const ErrorOf = Error
  const text = String
  const pending = create(null)
  let count = 0

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

  // What JSON would drop or change is refused with its path; an undefined field is left out, as in an object literal.
  function plain(value, path, depth) {
    if (value === null) return null
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        if (!isFinite(value)) throw new TypeError(path + ': ' + value + ' is not JSON')
        return value === 0 ? 0 : value
      case 'object':
        break
      default:
        throw new TypeError(path + ': ' + typeof value + ' is not JSON')
    }
    if (depth > 500) throw new TypeError(path + ': nested too deep, or a cycle')
    if (isArray(value)) {
      const copy = []
      for (let i = 0; i < value.length; i++) {
        defineProperty(copy, i, { value: plain(value[i], path + '[' + i + ']', depth + 1), enumerable: true, writable: true, configurable: true })
      }
      return copy
    }
    const prototype = getPrototypeOf(value)
    if (prototype !== objectPrototype && prototype !== null) throw new TypeError(path + ': an instance of a class is not JSON')
    const copy = create(null)
    const own = keys(value)
    for (let i = 0; i < own.length; i++) {
      const item = value[own[i]]
      if (item !== undefined) copy[own[i]] = plain(item, path + '.' + own[i], depth + 1)
    }
    return copy
  }

  function json(value) {
    return value === undefined ? 'null' : stringify(plain(value, '$', 0))
  }

  function wait(start) {
    return new PromiseOf((resolve, reject) => {
      const id = ++count
      pending[id] = { resolve, reject }
      try {
        start(id)
      } catch (error) {
        delete pending[id]
        reject(error)
      }
    })
  }

  const tools = create(null)
  for (let i = 0; i < names.length; i++) {
    const name = names[i]
    tools[name] = freeze((args) => wait((id) => host.call(id, name, args === undefined ? '{}' : json(args))))
  }

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
  define('sleep', (ms) => wait((id) => host.sleep(id, +ms)))

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
    return stringify({ name, message, stack })
  }

  return {
    start(program) {
      program().then(
        (value) => {
          let made
          try {
            made = json(value)
          } catch (error) {
            return host.done(false, described(error))
          }
          host.done(true, made)
        },
        (error) => host.done(false, described(error)),
      )
    },
    settle(batch) {
      const replies = parse(batch)
      for (let i = 0; i < replies.length; i++) {
        const reply = replies[i]
        const waiting = pending[reply.id]
        if (waiting === undefined) continue
        delete pending[reply.id]
        if (reply.ok) waiting.resolve(reply.value)
        else waiting.reject(new ToolError(reply))
      }
    },
  }
})`
