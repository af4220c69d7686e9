/** Owns taking back what a call changed: every file of it or none, and only where it still is as the call left it. */
import type { Session } from '@sluice/session'
import type { Changes } from './changes.ts'
import { fsErrors } from './errors.ts'
import { recentChanges, UNDO_CALLS_MAX, UNDO_CHANGES_MAX } from './recent-changes.ts'
import type { ChangedData, ChangeResult, FsContext } from './types.ts'
import { sameVersion } from './versions.ts'

/** @throws FS_NOTHING_TO_UNDO, FS_STALE; then no file was changed */
export async function undoCall(changes: Changes, callId: string, context: FsContext): Promise<readonly ChangeResult[]> {
  const byPath = changesOf(context.session, callId)
  const isBack = () => {
    const back = takenBack(context.session.fold(recentChanges).flatMap((call) => call.changes ?? [])).get(callId)
    return [...byPath.keys()].every((path) => back?.has(path))
  }
  const steps: { path: string; first: ChangedData; last: ChangedData; bytes: Buffer | undefined }[] = []
  for (const [path, data] of byPath) {
    const first = data[0] as ChangedData
    const last = data.at(-1) as ChangedData
    assertUnbroken(data)
    if (!sameVersion(await changes.versionAt(path, context), last.after)) throw isBack() ? already(callId) : stale(path)
    steps.push({ path, first, last, bytes: await bytesBefore(first, context.session) })
  }
  const results: ChangeResult[] = []
  for (const { path, last, bytes } of steps) {
    results.push(await changes.restore(path, bytes, last.after, { ...context, breakHardLink: true, undoes: callId }))
  }
  return results
}

/** Paths whose change by a call was taken back, by call, where that was not itself taken back. `changes` is in order. */
export function takenBack(changes: readonly ChangedData[]): ReadonlyMap<string, ReadonlySet<string>> {
  const back = new Map<string, Set<string>>()
  for (const { callId, path, undoes } of changes.toReversed()) {
    if (undoes === undefined || back.get(callId)?.has(path)) continue
    back.set(undoes, (back.get(undoes) ?? new Set()).add(path))
  }
  return back
}

/** @throws FS_NOTHING_TO_UNDO */
function changesOf(session: Session, callId: string): Map<string, ChangedData[]> {
  const nothing = (detail: string) => fsErrors('FS_NOTHING_TO_UNDO', { callId, detail })
  const call = session.fold(recentChanges).find((each) => each.callId === callId)
  if (!call) throw nothing(`it is not among the last ${UNDO_CALLS_MAX} calls that changed a file`)
  if (!call.changes) throw nothing(`it made more than ${UNDO_CHANGES_MAX} changes`)
  const byPath = new Map<string, ChangedData[]>()
  for (const change of call.changes) byPath.set(change.path, [...(byPath.get(change.path) ?? []), change])
  return byPath
}

/** Somebody else's change between two of the call would be lost. */
function assertUnbroken(data: readonly ChangedData[]): void {
  for (let i = 1; i < data.length; i++) {
    const change = data[i] as ChangedData
    if (!sameVersion(change.before, data[i - 1]?.after)) throw stale(change.path)
  }
}

async function bytesBefore({ path, beforeBlob, callId }: ChangedData, session: Session): Promise<Buffer | undefined> {
  if (!beforeBlob) return undefined
  const bytes = await session.getBlob(beforeBlob)
  if (!bytes) throw fsErrors('FS_NOTHING_TO_UNDO', { callId, detail: `the bytes of ${path} from before are gone` })
  return Buffer.from(bytes)
}

function already(callId: string) {
  return fsErrors('FS_NOTHING_TO_UNDO', { callId, detail: 'it was taken back already' })
}

function stale(path: string) {
  return fsErrors('FS_STALE', { path, detail: 'its content is not what the call left' })
}
