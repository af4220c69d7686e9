/** Owns the real terminal: the standard streams and Ctrl-C of this process. */
import { createInterface, type Interface } from 'node:readline'
import { InputLines } from './input-lines.ts'
import type { Terminal } from './terminal.ts'

/** Rounds of the event loop in which input that was typed before a question arrives. */
const DRAIN_ROUNDS = 3

/** The terminal of this process. Made once, by the program itself. */
export function nodeTerminal(streams: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'> = process): Terminal {
  const { stdin, stdout, stderr } = streams
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

  /** A line that comes while an answer is awaited stands below the prompt, which is shown again with what was typed. */
  const write = (text: string): void => {
    const interrupts = interactive && lines.awaited && text.endsWith('\n')
    stdout.write(interrupts ? `\n${text}` : text)
    if (interrupts) reader?.prompt(true)
  }

  /** What was typed before now is read and put aside, and a line that was begun is forgotten. */
  const drain = async () => {
    const own = open()
    own.resume()
    for (let round = 0; round < DRAIN_ROUNDS; round++) await new Promise((resolve) => setImmediate(resolve))
    if (own.line === '') return
    own.setPrompt('')
    own.write(null, { ctrl: true, name: 'e' })
    own.write(null, { ctrl: true, name: 'u' })
  }

  process.on('SIGINT', interrupt)
  // Whoever reads our output may stop reading: that ends the command, it is no failure of it.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  return {
    interactive,
    cwd: process.env.SLUICE_CALLER_CWD ?? process.cwd(),
    write,
    writeError: (text) => void stderr.write(text),
    readLine: (prompt, signal) => prompted(prompt, lines.next(signal)),
    async readAnswer(prompt, signal) {
      await drain()
      return prompted(prompt, lines.fresh(signal))
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
