/** Owns the life of one change: reach, ask, save the bytes from before, swap, tell the session. */
import { assert } from '@sluice/base'
import type { Access } from './access.ts'
import { assertChangeable, assertUtf8, bodyStart, bytesOf } from './content.ts'
import { difference } from './diff.ts'
import { applyPieces } from './edit.ts'
import { fsErrors } from './errors.ts'
import type { Intents } from './intents.ts'
import { Lanes } from './lanes.ts'
import { changePrompts } from './prompt.ts'
import { readUpTo } from './read.ts'
import { foldName, keyOf, type Resolved } from './resolve.ts'
import type { Before, Existing, Removed, Swapped, Swapper } from './swap.ts'
import { type How, tell } from './tell.ts'
import type { ChangeResult, EditPiece, FsContext, IntentVerdict, Precondition, Target, Version } from './types.ts'
import { sameVersion, versionOf } from './versions.ts'

/** Pieces of one edit. */
const PIECES_MAX = 200

export type ChangeContext = FsContext & {
  readonly breakHardLink?: boolean
  /** The call that is taken back. */
  readonly undoes?: string
}

/** A file whose bytes are in memory and whose descriptor is open. */
interface Held extends Existing {
  readonly target: Target
  readonly version: Version
}

export class Changes {
  private readonly intents: Intents
  private readonly access: Access
  private readonly swapper: Swapper
  private readonly lanes = new Lanes()

  constructor(intents: Intents, access: Access, swapper: Swapper) {
    this.intents = intents
    this.access = access
    this.swapper = swapper
  }

  async write(path: string, content: string, context: ChangeContext): Promise<ChangeResult> {
    return this.inLane(path, context, async (resolved) => {
      const { session, call } = context
      if (!resolved.stat) {
        const bytes = bytesOf(content, resolved.target.path, undefined)
        const intent = { target: resolved.target, digest: versionOf(bytes).digest, current: undefined, session, call }
        this.require(await this.intents.ask('fs/write-intent', intent), resolved.target, undefined)
        return this.commit(resolved.target, undefined, bytes, 'write', context)
      }
      return this.withHeld(path, resolved, context, async (held) => {
        const bytes = bytesOf(content, held.target.path, held.bytes)
        const intent = { target: held.target, digest: versionOf(bytes).digest, current: held.version, session, call }
        this.require(await this.intents.ask('fs/write-intent', intent), held.target, held.version)
        if (bytes.equals(held.bytes)) return unchanged(held, context)
        return this.commit(held.target, held, bytes, 'write', context)
      })
    })
  }

  async edit(path: string, pieces: readonly EditPiece[], context: ChangeContext): Promise<ChangeResult> {
    assert(pieces.length > 0 && pieces.length <= PIECES_MAX, `an edit has 1 to ${PIECES_MAX} pieces`)
    return this.inLane(path, context, (resolved) =>
      this.withHeld(path, resolved, context, async (held) => {
        const { target, version, bytes } = held
        const oldTexts = pieces.map((piece) => piece.oldText)
        const { session, call } = context
        const verdict = await this.intents.ask('fs/edit-intent', {
          target,
          current: version,
          oldTexts,
          session,
          call,
        })
        const seen = this.require(verdict, target, version)
        assertUtf8(bytes, target.path)
        const stale = seen !== undefined && !sameVersion(seen, version)
        const next = applyPieces(bytes, pieces, { path: target.path, bodyStart: bodyStart(bytes), stale })
        assertChangeable(next.length, target.path)
        return this.commit(target, held, next, stale ? 'stale-edit' : 'edit', context)
      }),
    )
  }

  /** Puts back `bytes`, or removes the file, if its content is `expected`. Asks the checks, not the intents. */
  async restore(
    path: string,
    bytes: Buffer | undefined,
    expected: Version | undefined,
    context: ChangeContext,
  ): Promise<ChangeResult> {
    return this.inLane(path, context, async (resolved) => {
      const stale = (detail: string) => fsErrors('FS_STALE', { path: resolved.target.path, detail })
      if (!resolved.stat) {
        if (expected || !bytes) throw stale('it is gone')
        return this.commit(resolved.target, undefined, bytes, 'undo', context)
      }
      return this.withHeld(path, resolved, context, async (held) => {
        if (!sameVersion(held.version, expected)) throw stale('its content is not what the call left')
        return this.commit(held.target, held, bytes, 'undo', context)
      })
    })
  }

  /** What the path holds now. */
  async versionAt(path: string, context: FsContext): Promise<Version | undefined> {
    const resolved = await this.access.reach(path, 'change', context.session)
    if (!resolved.stat) return undefined
    return this.withHeld(path, resolved, { ...context, breakHardLink: true }, async (held) => held.version)
  }

  /** One change of a file at a time, so that each sees what the one before left. */
  private async inLane<T>(path: string, context: ChangeContext, work: (resolved: Resolved) => Promise<T>): Promise<T> {
    context.signal?.throwIfAborted()
    const reach = () => this.access.reach(path, 'change', context.session)
    const first = await reach()
    const lane = first.target.folded ? foldName(first.target.path) : first.target.path
    const mayBeOld = this.lanes.isBusy(lane)
    return this.lanes.run(lane, async () => work(mayBeOld ? await reach() : first))
  }

  private async withHeld<T>(
    path: string,
    resolved: Resolved,
    context: ChangeContext,
    work: (held: Held) => Promise<T>,
  ): Promise<T> {
    const { file, stat, target } = await this.access.open(path, 'change', context.session, resolved)
    try {
      if (stat.links > 1 && context.breakHardLink !== true) {
        throw fsErrors('FS_HARD_LINKED', { path: target.path, links: stat.links })
      }
      assertChangeable(stat.size, target.path)
      const bytes = await readUpTo(file, stat.size + 1, stat.size)
      return await work({ target, file, stat, bytes, version: versionOf(bytes) })
    } finally {
      await file.close()
    }
  }

  /** What was seen, when the verdict lets the change pass.
   *  @throws FS_REFUSED, FS_STALE */
  private require(verdict: IntentVerdict, target: Target, current: Version | undefined): Version | undefined {
    if (verdict.kind === 'deny') {
      const { code, reason, remedy } = verdict
      throw fsErrors('FS_REFUSED', { path: target.given, code, reason, ...(remedy !== undefined && { remedy }) })
    }
    const detail = verdict.precondition && unmet(verdict.precondition, current)
    if (detail !== undefined) throw fsErrors('FS_STALE', { path: target.path, detail })
    return verdict.seen
  }

  private async commit(
    target: Target,
    held: Held | undefined,
    bytes: Buffer | undefined,
    how: How,
    context: ChangeContext,
  ): Promise<ChangeResult> {
    const { session, signal } = context
    const saving = held && session.putBlob(held.bytes, { mediaType: 'application/octet-stream' })
    // It fails the change where it is awaited; a change that fails sooner must not leave it unheard.
    saving?.catch(() => undefined)
    const done = await this.put(target.path, held, bytes, async (written) => {
      const found = { after: bytes && versionOf(bytes), changed: difference(target.given, held?.bytes, bytes) }
      const [beforeBlob] = await Promise.all([saving, written])
      signal?.throwIfAborted()
      return { ...found, beforeBlob }
    })
    const key = done.stat ? keyOf(done.stat) : target.key
    const { after, changed, beforeBlob } = done.before
    const change = { target, key, before: held?.version, after, beforeBlob, how }
    // The session is told while the disk makes the name durable.
    const [notDurable] = await Promise.all([done.syncing, tell(change, context)])
    if (notDurable !== undefined) throw fsErrors('FS_NOT_DURABLE', { path: target.path, detail: notDurable })
    const { from, to, text } = changed.around
    return {
      target: { ...target, key, exists: after !== undefined },
      before: held?.version,
      after,
      diff: changed.text,
      notes: [
        ...(how === 'stale-edit' ? [changePrompts.changedElsewhere(from, to, text)] : []),
        ...(done.ownerLost ? [changePrompts.ownerLost] : []),
      ],
      linesAdded: changed.linesAdded,
      linesRemoved: changed.linesRemoved,
    }
  }

  private async put<T>(
    path: string,
    held: Held | undefined,
    bytes: Buffer | undefined,
    before: Before<T>,
  ): Promise<Removed<T> & Partial<Swapped<T>>> {
    if (bytes) return this.swapper.swap(path, bytes, held, before)
    if (!held) throw fsErrors('FS_NOT_FOUND', { path })
    return this.swapper.remove(path, held, before)
  }
}

/** Writing what is there already touches nothing. */
function unchanged({ target, version }: Held, { session }: ChangeContext): ChangeResult {
  session.append('fs/observed', { path: target.path, key: target.key, version, how: 'write' })
  const notes = [changePrompts.sameContent]
  return { target, before: version, after: version, diff: '', notes, linesAdded: 0, linesRemoved: 0 }
}

function unmet(precondition: Precondition, current: Version | undefined): string | undefined {
  switch (precondition.kind) {
    case 'none':
      return undefined
    case 'absent':
      return current ? 'it exists already' : undefined
    case 'version':
      return sameVersion(precondition.version, current) ? undefined : 'its content is not the expected one'
  }
}
