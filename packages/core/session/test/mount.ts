/** Owns a mounted session service over a memory store, for the tests of this package. */
import type { World } from '@sluice/base'
import { Context } from 'cordis'
import * as sessionPlugin from '../src/index.ts'
import { memoryStore, type Session, type SessionStore } from '../src/index.ts'

/** Only what sessions use: a clock that ticks, counted randomness, a host, and processes that were left for sessions. */
export function smallWorld(orphans: string[] = []): World {
  let now = Date.UTC(2030, 0, 1)
  let byte = 0
  const world = {
    clock: { now: () => now++, monotonic: () => now, timer: () => () => {} },
    random: { bytes: (length: number) => Uint8Array.from({ length }, () => byte++ & 255), float: () => 0 },
    processes: {
      async endOrphans(owner: string) {
        const left = orphans.filter((orphan) => orphan === owner).length
        orphans.splice(0, orphans.length, ...orphans.filter((orphan) => orphan !== owner))
        return left
      },
    },
    host: { pid: 7, hostname: 'test-host', platform: 'linux', homeDir: '/home', tempDir: '/tmp', env: {}, umask: 0o22 },
  }
  return world as unknown as World
}

export interface Mounted {
  readonly ctx: Context
  readonly store: SessionStore
  /** Owner of each process that a dead host has left. */
  readonly orphans: string[]
  readonly unload: () => Promise<void>
}

export async function mount(store: SessionStore = memoryStore(), config: sessionPlugin.Config = {}): Promise<Mounted> {
  const ctx = new Context()
  const orphans: string[] = []
  ctx.provide('world', smallWorld(orphans))
  ctx.provide('sessionStore', store)
  const fiber = await ctx.plugin(sessionPlugin, config)
  return { ctx, store, orphans, unload: () => fiber.dispose() }
}

export async function freshSession(): Promise<Session> {
  const { ctx } = await mount()
  return ctx.sessions.create({ cwd: '/proj' })
}
