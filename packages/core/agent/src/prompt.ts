/** Owns every string of a turn that a model reads. */
import type { FinishReason } from '@sluice/session'

/** Head of the section with instructions of the project. */
export const INSTRUCTIONS_HEAD =
  'Instructions of the project, from its root to the working folder; where they disagree, the later ones hold.'

export function instructionsOf(path: string, text: string): string {
  return `# ${path}\n\n${text}`
}

export function instructionsCut(bytesMax: number): string {
  return `[cut after ${bytesMax} bytes; read the file for the rest]`
}

/** Why the calls of a message are settled without running, as a part of the sentence that each result says; nothing when
 *  the message is whole. */
export function cutOffBy(finish: FinishReason): string | undefined {
  switch (finish) {
    case 'stop':
    case 'tool-calls':
      return undefined
    case 'length':
      return 'the output limit was reached'
    case 'filter':
      return 'the provider filtered it'
    case 'aborted':
      return 'it was interrupted while it was written'
    case 'error':
    case 'incomplete':
      return 'it broke off'
  }
}

export function cutOffByLog(problem: string): string {
  return `the session log could not be written: ${problem}`
}
