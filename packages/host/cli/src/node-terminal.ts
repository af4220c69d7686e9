/** Owns the real terminal: the standard streams and Ctrl-C of this process. */
import { createInterface, type Interface } from 'node:readline'
import type { Terminal } from './terminal.ts'

/** The terminal of this process. Made once, by the program itself. */
export function nodeTerminal(): Terminal {
  const { stdin, stdout, stderr } = process
  const listeners = new Set<() => void>()
  const lines: string[] = []
  let reader: Interface | undefined
  let ended = false
  let waiting: ((line: string | undefined) => void) | undefined
  const interactive = stdin.isTTY && stdout.isTTY

  const interrupt = (): void => {
    if (listeners.size === 0) process.exit(130)
    for (const listener of listeners) listener()
  }
  /** One reader for all questions: a second one would lose the lines that the first has read ahead. */
  const open = (): Interface => {
    if (reader) return reader
    reader = createInterface({ input: stdin, output: stdout, terminal: interactive })
    reader.on('SIGINT', interrupt)
    reader.on('line', (line) => (waiting ? waiting(line) : lines.push(line)))
    reader.on('close', () => {
      ended = true
      waiting?.(undefined)
    })
    return reader
  }
  const ask = (prompt: string, signal: AbortSignal | undefined) =>
    new Promise<string | undefined>((resolve) => {
      const settle = (value: string | undefined) => {
        waiting = undefined
        signal?.removeEventListener('abort', stop)
        resolve(value)
      }
      const stop = () => settle(undefined)
      const own = open()
      waiting = settle
      signal?.addEventListener('abort', stop, { once: true })
      own.setPrompt(prompt)
      own.prompt()
    })

  process.on('SIGINT', interrupt)
  // Whoever reads our output may stop reading: that ends the command, it is no failure of it.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  return {
    interactive,
    cwd: process.env.SLUICE_CALLER_CWD ?? process.cwd(),
    write: (text) => void stdout.write(text),
    writeError: (text) => void stderr.write(text),
    readLine(prompt, signal) {
      const line = lines.shift()
      if (line !== undefined) return Promise.resolve(line)
      if (ended || signal?.aborted) return Promise.resolve(undefined)
      return ask(prompt, signal)
    },
    onInterrupt(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async end(code) {
      reader?.close()
      await new Promise<void>((resolve) => stdout.write('', () => resolve()))
      return process.exit(code)
    },
  }
}
