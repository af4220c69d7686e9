/** Owns the words of files: targets, versions, intents, reads and edits. */
import type {} from 'cordis'
import type { Awaitable, Call, ListenersOf } from '@sluice/tools'
import type { Session } from '@sluice/session'
import type { fsEvents } from './emitted-events.ts'

/** What a path resolves to. Two spellings of one file share `path` and, where the file exists, `key`. */
export interface Target {
  /** Real path of the deepest existing ancestor plus the rest; the leaf link itself is resolved. */
  readonly path: string
  /** Identity for comparison: device and inode where the file exists, else the path (folded as the volume folds it). */
  readonly key: string
  readonly exists: boolean
  /** The volume takes names that differ only in case (or Unicode form) as one: patterns are then compared folded. */
  readonly folded: boolean
  /** As the caller wrote it. */
  readonly given: string
}

/** Content, not metadata. */
export interface Version {
  /** sha-256 in hex. */
  readonly digest: string
  /** Bytes. */
  readonly size: number
}

export type Precondition =
  | { readonly kind: 'none' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'version'; readonly version: Version }

export type IntentVerdict =
  | {
      readonly kind: 'pass'
      readonly precondition?: Precondition
      /** What the session has seen, where that is not the current version: an edit must then match exactly once, is
       *  refused as stale otherwise, and its result says that the file changed elsewhere. */
      readonly seen?: Version
    }
  | { readonly kind: 'deny'; readonly code: string; readonly reason: string; readonly remedy?: string }

export interface WriteIntent {
  readonly target: Target
  /** Digest of the bytes to be written. */
  readonly digest: string
  readonly current: Version | undefined
  readonly session: Session
  readonly call: Pick<Call, 'id' | 'tool'>
}

export interface EditIntent {
  readonly target: Target
  readonly current: Version
  /** The texts that are to be replaced. */
  readonly oldTexts: readonly string[]
  readonly session: Session
  readonly call: Pick<Call, 'id' | 'tool'>
}

export interface LineRange {
  /** 1-based, inclusive. */
  readonly from: number
  readonly to: number
}

export interface ReadResult {
  readonly target: Target
  /** Absent when only the part up to the end of the window was read, as in large files, or the file is too large to be changed. */
  readonly version: Version | undefined
  readonly kind: 'text' | 'image' | 'binary'
  readonly mediaType: string
  /** For text: name of the encoding, `utf-8` or another that is read but refused for editing. */
  readonly encoding: string
  readonly bom: boolean
  /** For text: the lines of the window, without line ends. */
  readonly lines: readonly string[]
  readonly range: LineRange
  readonly linesTotal: number | undefined
  /** What was cut, in words; empty when nothing. */
  readonly cuts: readonly string[]
  /** For images. */
  readonly bytes?: Uint8Array
}

export interface EditPiece {
  readonly oldText: string
  readonly newText: string
  readonly replaceAll?: boolean
}

export interface ChangeResult {
  readonly target: Target
  readonly before: Version | undefined
  /** Absent when the file was removed (undo of a creation). */
  readonly after: Version | undefined
  /** Unified diff, bounded. */
  readonly diff: string
  /** What the model should know, such as a change elsewhere in the file. */
  readonly notes: readonly string[]
  readonly linesAdded: number
  readonly linesRemoved: number
}

export interface DirectoryEntry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'symlink' | 'other'
  readonly size?: number
}

export interface DirectoryListing {
  readonly target: Target
  /** Sorted by name. */
  readonly entries: readonly DirectoryEntry[]
  /** How many more there are. */
  readonly omitted: number
}

/** Refuses a target before it is touched, or returns nothing. Checked again on the opened descriptor. */
export type TargetCheck = (
  target: Target,
  access: 'read' | 'write',
  session: Session,
) => Awaitable<{ readonly code: string; readonly reason: string } | undefined>

export interface FsContext {
  readonly session: Session
  readonly call: Pick<Call, 'id' | 'tool'>
  readonly signal?: AbortSignal
}

/** `ctx.fs`. Every path is resolved, checked and observed here; tools hold no path logic of their own. */
export interface Fs {
  resolve(path: string, session: Session): Promise<Target>
  /** Resolves and runs the checks for `access`. @throws FS_REFUSED */
  check(path: string, access: 'read' | 'write', context: FsContext): Promise<Target>
  /** Bounds are in lines; text is bounded in bytes too. Appends `fs/observed`.
   *  @throws FS_NOT_FOUND, FS_NOT_A_FILE, FS_REFUSED */
  read(
    path: string,
    options: { readonly offset?: number; readonly limit?: number },
    context: FsContext,
  ): Promise<ReadResult>
  /** Atomic and durable. Asks `fs/write-intent`. Appends `fs/changed` and `fs/observed`.
   *  @throws FS_STALE, FS_REFUSED, FS_HARD_LINKED, FS_NOT_A_FILE */
  write(path: string, content: string, context: FsContext & { readonly breakHardLink?: boolean }): Promise<ChangeResult>
  /** Splices bytes; every piece or none. Asks `fs/edit-intent`.
   *  @throws FS_NO_MATCH, FS_AMBIGUOUS, FS_NO_CHANGE, FS_STALE, FS_NOT_UTF8, FS_REFUSED, FS_NOT_FOUND */
  edit(
    path: string,
    pieces: readonly EditPiece[],
    context: FsContext & { readonly breakHardLink?: boolean },
  ): Promise<ChangeResult>
  list(path: string, context: FsContext): Promise<DirectoryListing>
  /** Restores the bytes from before the call's change. @throws FS_STALE, FS_NOTHING_TO_UNDO */
  undo(callId: string, context: FsContext): Promise<readonly ChangeResult[]>
  /** Mounts a check for as long as the calling plugin is mounted. */
  restrict(name: string, check: TargetCheck): () => void
}

/** What a session has seen of a file. */
export interface ObservedData {
  path: string
  key: string
  version: Version
  /** Line ranges seen; absent for "the whole file". */
  ranges?: readonly LineRange[]
  /** Lines of the whole file, where the read came to its end. */
  linesTotal?: number
  how: 'read' | 'write' | 'edit'
}

export interface ChangedData {
  callId: string
  path: string
  key: string
  before?: Version
  /** Absent when the file was removed. */
  after?: Version
  /** The call whose change was taken back by this one. */
  undoes?: string
  /** Blob with the bytes before the change; absent when the file did not exist. */
  beforeBlob?: { digest: string; size: number }
}

declare module '@sluice/session' {
  interface SessionEventMap {
    'fs/observed': ObservedData
    'fs/changed': ChangedData
  }
}

declare module 'cordis' {
  interface Context {
    fs: Fs
  }
  interface Events extends ListenersOf<typeof fsEvents> {}
}
