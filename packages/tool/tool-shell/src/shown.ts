/** Owns what a model is shown of output, and where the whole is kept for a person. */
import { messageOf } from '@sluice/base'
import type { Appeared } from '@sluice/sandbox'
import type { Session } from '@sluice/session'
import { BoundedOutput } from './bounded-output.ts'
import { keptNote, looksRefused, lostNote } from './prompt.ts'
import type { CommandEnd, Granted, ShownOutput } from './types.ts'

export function boundedOutput(session: Session, name: string, charsMax: number): BoundedOutput {
  return new BoundedOutput(charsMax, (pieces) => session.putBlob(pieces, { mediaType: 'text/plain', name }))
}

/** A disk that fails costs what was left out, not what is shown. */
export async function shownOutput(output: BoundedOutput): Promise<ShownOutput> {
  const { head, tail, omitted, kept } = output.finish()
  if (!kept) return { output: head, omitted }
  try {
    const { blob, all } = await kept
    return { output: head + keptNote(omitted, blob, all) + tail, omitted, blob }
  } catch (error) {
    return { output: head + lostNote(omitted, messageOf(error)) + tail, omitted }
  }
}

/** What was looked for where the command was confined; told where there is something to tell. */
export async function grantedBy(look: (() => Promise<Appeared>) | undefined): Promise<Granted> {
  // Where it cannot be looked everywhere, that is what is told.
  const authority = await look?.().catch((): Appeared => ({ paths: [], cut: true }))
  return authority && (authority.paths.length > 0 || authority.cut) ? { authority } : {}
}

/** The limits of the sandbox, for a command that may have run into them. */
export function limitsShown(limits: string | undefined, output: string, end: CommandEnd): Pick<ShownOutput, 'limits'> {
  return limits !== undefined && looksRefused(output, end) ? { limits } : {}
}
