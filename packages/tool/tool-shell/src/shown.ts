/** Owns what a model is shown of output, and keeping the rest for a person. */
import { messageOf } from '@sluice/base'
import type { Session } from '@sluice/session'
import type { BoundedOutput } from './bounded-output.ts'
import { keptNote, looksRefused, lostNote } from './prompt.ts'
import type { CommandEnd, ShownOutput } from './types.ts'

/** A disk that fails costs what was left out, not what is shown. */
export async function shownOutput(output: BoundedOutput, session: Session, name: string): Promise<ShownOutput> {
  const { head, tail, omitted, kept, keptAll } = output.finish()
  if (omitted === 0) return { output: head, omitted }
  try {
    const blob = await session.putBlob(new TextEncoder().encode(kept), { mediaType: 'text/plain', name })
    return { output: head + keptNote(omitted, blob.digest, keptAll) + tail, omitted, blob }
  } catch (error) {
    return { output: head + lostNote(omitted, messageOf(error)) + tail, omitted }
  }
}

/** The limits of the sandbox, for a command that may have run into them. */
export function limitsShown(limits: string | undefined, output: string, end: CommandEnd): Pick<ShownOutput, 'limits'> {
  return limits !== undefined && looksRefused(output, end) ? { limits } : {}
}
