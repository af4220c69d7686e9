/** Owns the real terminal: the standard streams and Ctrl-C of this process. */
import { createInterface, type Interface } from 'node:readline'
import { InputLines } from './input-lines.ts'
import type { Terminal } from './terminal.ts'

/** The terminal of this process. Made once, by the program itself. */
export function nodeTerminal(): Terminal {
  const { stdin, stdout, stderr } = process
  const listeners = new Set<() => void>()
  const lines = new InputLines()
  let reader: Interface | undefined
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
    reader.on('line', (line) => lines.push(line))
    reader.on('close', () => lines.end())
    return reader
  }
  const prompted = (prompt: string, line: Promise<string | undefined>) => {
    if (!lines.awaited) return line
    const own = open()
    own.setPrompt(prompt)
    own.prompt()
    return line
  }

  process.on('SIGINT', interrupt)
  // Whoever reads our output may stop reading: that ends the command, it is no failure of it.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  return {
    interactive,
    cwd: process.env.SLUICE_CALLER_CWD ?? process.cwd(),
    write: (text) => void stdout.write(text),
    writeError: (text) => void stderr.write(text),
    readLine: (prompt, signal) => prompted(prompt, lines.next(signal)),
    readAnswer: (prompt, signal) => prompted(prompt, lines.fresh(signal)),
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
