#!/usr/bin/env node
/** Owns the real terminal: the only place of this package that touches the process. */
import { createInterface, type Interface } from 'node:readline'
import { runCli } from './cli.ts'
import type { Terminal } from './terminal.ts'

const { stdin, stdout, stderr } = process
const listeners = new Set<() => void>()
const lines: string[] = []
let reader: Interface | undefined
let ended = false
let waiting: ((line: string | undefined) => void) | undefined

function interrupt(): void {
  if (listeners.size === 0) process.exit(130)
  for (const listener of listeners) listener()
}

/** One reader for all questions: a second one would lose the lines that the first has read ahead. */
function open(): Interface {
  if (reader) return reader
  reader = createInterface({ input: stdin, output: stdout, terminal: stdin.isTTY && stdout.isTTY })
  reader.on('SIGINT', interrupt)
  reader.on('line', (line) => (waiting ? waiting(line) : lines.push(line)))
  reader.on('close', () => {
    ended = true
    waiting?.(undefined)
  })
  return reader
}

const terminal: Terminal = {
  interactive: stdin.isTTY && stdout.isTTY,
  cwd: process.env.SLUICE_CALLER_CWD ?? process.cwd(),
  write: (text) => void stdout.write(text),
  writeError: (text) => void stderr.write(text),
  readLine(prompt, signal) {
    const line = lines.shift()
    if (line !== undefined) return Promise.resolve(line)
    if (ended || signal?.aborted) return Promise.resolve(undefined)
    const own = open()
    return new Promise((resolve) => {
      const settle = (value: string | undefined) => {
        waiting = undefined
        signal?.removeEventListener('abort', stop)
        resolve(value)
      }
      const stop = () => settle(undefined)
      waiting = settle
      signal?.addEventListener('abort', stop, { once: true })
      own.setPrompt(prompt)
      own.prompt()
    })
  },
  onInterrupt(listener) {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
}

process.on('SIGINT', interrupt)
// Whoever reads our output may stop reading: that ends the command, it is no failure of it.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
const code = await runCli(process.argv.slice(2), terminal)
reader?.close()
stdout.write('', () => process.exit(code))
