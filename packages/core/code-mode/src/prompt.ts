/** Owns every sentence of this package that a model reads. */
import type { CodeFailureKind } from './types.ts'

export const runCodeDescription =
  'Runs a TypeScript program whose only powers are the tools of this conversation. The program is the body of an async function: ' +
  'use await, and return a JSON value. Call tools as `await tools.name({ … })`; calls made with Promise.all overlap where the tools allow it. ' +
  'A call that is denied or fails rejects with a ToolError (code, tool, reason, executed). There are no files, network, processes or timers ' +
  'beside sleep(ms). What console.log prints is shown with the result. Prefer one program over many single calls.'

export const programDescription = 'Body of an async function, in TypeScript.'
export const descriptionDescription = 'What the program does, in a few words, for the person who follows along.'

export function sectionText(declarations: string): string {
  return `Programs for run_code can use exactly this:\n\n\`\`\`ts\n${declarations}\`\`\``
}

const kinds: Record<CodeFailureKind, string> = {
  exception: 'The program threw',
  timeout: 'The program took too long',
  memory: 'The program used too much memory',
  output: 'The program printed too much',
  abort: 'The program was stopped',
  crash: 'The runtime of the program crashed',
}

export function failureText(
  kind: CodeFailureKind,
  message: string,
  line: number | undefined,
  output: readonly string[],
): string {
  const place = line === undefined ? '' : ` (line ${line})`
  const printed = output.length === 0 ? '' : `\nIt had printed:\n${output.join('\n')}`
  return `${kinds[kind]}${place}: ${message}\nCalls that it had made are not undone.${printed}`
}

export function resultText(value: string, output: readonly string[]): string {
  return output.length === 0 ? value : `${value}\n\nPrinted:\n${output.join('\n')}`
}
