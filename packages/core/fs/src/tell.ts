/** Owns what a session is told of a change that is done. */
import type { BlobRef } from '@sluice/session'
import { observationOf, observations } from './observations.ts'
import type { FsContext, Target, Version } from './types.ts'
import { sameVersion } from './versions.ts'

export type How = 'write' | 'edit' | 'stale-edit' | 'undo'

export interface Change {
  /** As it was before. */
  readonly target: Target
  /** Of what stands there now. */
  readonly key: string
  readonly before: Version | undefined
  readonly after: Version | undefined
  readonly beforeBlob: BlobRef | undefined
  readonly how: How
}

/** Whoever knew the whole file before an edit knows the whole of it after; nobody has seen what an undo put back. */
export async function tell(
  change: Change,
  { session, call, undoes }: FsContext & { readonly undoes?: string },
): Promise<void> {
  const { target, key, before, after, beforeBlob, how } = change
  const { path } = target
  const seen = before && observationOf(session.fold(observations), target, before)
  const wasWhole = seen?.seen === 'whole' && sameVersion(seen.version, before)
  session.append('fs/changed', {
    callId: call.id,
    ...(undoes !== undefined && { undoes }),
    path,
    key,
    ...(before && { before }),
    ...(after && { after }),
    ...(beforeBlob && { beforeBlob: { digest: beforeBlob.digest, size: beforeBlob.size } }),
  })
  if (!after || how === 'undo') return
  const isWhole = how === 'write' || (how === 'edit' && wasWhole)
  const observed = { path, key, version: after, how: how === 'write' ? how : ('edit' as const) }
  session.append('fs/observed', isWhole ? observed : { ...observed, ranges: [] })
}
