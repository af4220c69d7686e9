/** Owns the lock of a session folder: one writer across processes; a dead owner keeps nothing. */
import { join } from 'node:path'
import { type Disk, isDiskError, mintId, type World } from '@sluice/base'
import { type LogHolder, sessionErrors } from '@sluice/session'
import { PRIVATE_FILE, readSmall, unlinkIfThere } from './disk.ts'
import { storeErrors } from './errors.ts'
import type { Layout } from './layout.ts'

const LOCK_BYTES_MAX = 4096
/** Processes that died one after the other while taking over the same lock. */
const TAKEOVERS_MAX = 8
/** Locks that went away while they were looked at. */
const TRIES_MAX = 20

interface Holder extends LogHolder {
  /** Absent where the platform cannot tell it. */
  readonly startedAt?: string
}

/** Tokens of this process: tells a lock of ours from one of a dead process that had our pid. */
const ours = new Set<string>()
/** Tokens given up by this process although the disk kept the lock. By disk: what is true of one is not of another. */
const abandoned = new WeakMap<Disk, Set<string>>()

export interface Lock {
  /** Never rejects: a lock that cannot be removed is given up all the same. */
  release(): Promise<void>
}

/** Who holds the lock; a dead owner does not. */
export async function holderOfLock(world: World, layout: Layout): Promise<LogHolder | undefined> {
  const found = await readSmall(world.disk, layout.lock, LOCK_BYTES_MAX)
  const holder = found && holderOf(found)
  return holder && isHeld(world, holder) ? holder : undefined
}

/** Takes the lock of an existing folder. A holder on another host whose token is `gone` keeps nothing.
 *  @throws SESSION_LOCKED with the holder's pid and host */
export async function takeLock(world: World, id: string, layout: Layout, gone?: string): Promise<Lock> {
  const { disk } = world
  const token = mintId(world, 'lock')
  const startedAt = world.processes.startTimeOf(world.host.pid)
  const { pid, hostname: host } = world.host
  const self: Holder = { pid, ...(startedAt !== undefined && { startedAt }), host, token }
  // The name appears with its content, or not at all.
  const draft = join(layout.dir, `${token}.tmp`)
  const file = await disk.open(draft, { write: true, create: true, exclusive: true, mode: PRIVATE_FILE })
  ours.add(token)
  try {
    try {
      await file.write(Buffer.from(`${JSON.stringify(self)}\n`), 0)
    } finally {
      await file.close()
    }
    await take(world, id, layout, { path: layout.lock, draft, gone, depth: 0 })
  } catch (error) {
    ours.delete(token)
    throw error
  } finally {
    await unlinkIfThere(disk, draft)
  }
  return { release: () => release(disk, layout.lock, token) }
}

interface Way {
  readonly path: string
  readonly draft: string
  readonly gone: string | undefined
  readonly depth: number
}

/** Names the draft `path`. A dead holder is followed by exactly one: whoever takes the lock named after its token. */
async function take(world: World, id: string, layout: Layout, way: Way): Promise<void> {
  const { disk } = world
  const { path, draft, gone, depth } = way
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    try {
      return await disk.link(draft, path)
    } catch (error) {
      if (!isDiskError(error, 'EEXIST')) throw error
    }
    const found = await readSmall(disk, path, LOCK_BYTES_MAX)
    if (!found) {
      await assertGone(disk, path)
      continue
    }
    const holder = holderOf(found)
    if (holder && isHeld(world, holder, gone))
      throw sessionErrors('SESSION_LOCKED', { id, pid: holder.pid, host: holder.host })
    if (depth === TAKEOVERS_MAX) break
    const claim = join(layout.dir, `lock.after-${holder?.token ?? 'unreadable'}`)
    await take(world, id, layout, { path: claim, draft, gone, depth: depth + 1 })
    try {
      // Somebody may have followed the dead holder before the claim was ours.
      const now = await readSmall(disk, path, LOCK_BYTES_MAX)
      if (!now?.equals(found)) continue
      return await replace(disk, draft, path)
    } finally {
      await unlinkIfThere(disk, claim)
    }
  }
  throw sessionErrors('SESSION_LOCKED', { id, pid: 0, host: 'an unknown host' })
}

/** What stands there and is no lock stays there for ever: nobody waits for it.
 *  @throws STORE_UNREADABLE */
async function assertGone(disk: Disk, path: string): Promise<void> {
  try {
    const { kind, size } = await disk.lstat(path)
    if (kind === 'file' && size <= LOCK_BYTES_MAX) return
    throw storeErrors('STORE_UNREADABLE', { path, code: `a ${kind} of ${size} bytes is no lock` })
  } catch (error) {
    if (!isDiskError(error, 'ENOENT')) throw error
  }
}

/** A rename, so that at no moment the name is free. */
async function replace(disk: Disk, draft: string, path: string): Promise<void> {
  const second = `${draft.slice(0, -'.tmp'.length)}.2.tmp`
  await disk.link(draft, second)
  await disk.rename(second, path)
}

function holderOf(bytes: Buffer): Holder | undefined {
  try {
    const value = JSON.parse(bytes.toString('utf8')) as Partial<Holder> | null
    const { pid, startedAt, host, token } = value ?? {}
    if (typeof pid !== 'number' || typeof host !== 'string' || typeof token !== 'string') return undefined
    if (!/^lock_[0-9a-z]+$/.test(token)) return undefined
    return { pid, host, token, ...(typeof startedAt === 'string' && { startedAt }) }
  } catch {
    return undefined
  }
}

function isHeld(world: World, holder: Holder, gone?: string): boolean {
  // What runs on another host cannot be seen from here.
  if (holder.host !== world.host.hostname) return holder.token !== gone
  if (abandoned.get(world.disk)?.has(holder.token)) return false
  if (holder.pid === world.host.pid && holder.startedAt === undefined) return ours.has(holder.token)
  return world.processes.isAlive(holder.pid, holder.startedAt)
}

/** Removes what dead writers left half done; only the holder of the lock may. */
export async function sweep(world: World, layout: Layout): Promise<void> {
  const { disk } = world
  for (const { name } of await disk.readdir(layout.dir)) {
    const path = join(layout.dir, name)
    if (/^lock(_|\.after-)/.test(name)) {
      const found = await readSmall(disk, path, LOCK_BYTES_MAX)
      const holder = found && holderOf(found)
      if (holder && isHeld(world, holder)) continue
    } else if (!name.endsWith('.tmp')) continue
    await unlinkIfThere(disk, path)
  }
}

async function release(disk: Disk, path: string, token: string): Promise<void> {
  try {
    const found = await readSmall(disk, path, LOCK_BYTES_MAX)
    if (found && holderOf(found)?.token === token) await disk.unlink(path)
  } catch {
    const tokens = abandoned.get(disk) ?? new Set()
    abandoned.set(disk, tokens.add(token))
  } finally {
    ours.delete(token)
  }
}
