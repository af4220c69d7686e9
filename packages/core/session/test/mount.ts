/** Owns a mounted session service over a memory store, for the tests of this package. */
import type { World } from '@sluice/base'
import { Context } from 'cordis'
import * as sessionPlugin from '../src/index.ts'
import { memoryStore, type Session, type SessionStore } from '../src/index.ts'

/** Only what sessions use: a clock that ticks, counted randomness, a host. */
export function smallWorld(): World {
  let now = Date.UTC(2030, 0, 1)
  let byte = 0
  const world = {
    clock: { now: () => now++, monotonic: () => now, timer: () => () => {} },
    random: { bytes: (length: number) => Uint8Array.from({ length }, () => byte++ & 255), float: () => 0 },
    host: { pid: 7, hostname: 'test-host', platform: 'linux', homeDir: '/home', tempDir: '/tmp', env: {}, umask: 0o22 },
  }
  return world as unknown as World
}

export interface Mounted {
  readonly ctx: Context
  readonly store: SessionStore
  readonly unload: () => Promise<void>
}

export async function mount(store: SessionStore = memoryStore(), config: sessionPlugin.Config = {}): Promise<Mounted> {
  const ctx = new Context()
  ctx.provide('world', smallWorld())
  ctx.provide('sessionStore', store)
  const fiber = await ctx.plugin(sessionPlugin, config)
  return { ctx, store, unload: () => fiber.dispose() }
}

export async function freshSession(): Promise<Session> {
  const { ctx } = await mount()
  return ctx.sessions.create({ cwd: '/proj' })
}
