/** Owns killing a real process that writes a session on a real disk. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import * as sessionPlugin from '@sluice/session'
import type { Session } from '@sluice/session'
import { nodeWorld } from '@sluice/world-node'
import { Context } from 'cordis'
import { jsonlStore } from '../src/index.ts'

export interface Killed {
  /** Seq of the last event whose durability the process told. */
  readonly acknowledged: number
}

/** Starts a writer, runs `meanwhile` at its first sign of life, kills it after `acknowledgements` more, waits for its end. */
export async function killWriter(
  root: string,
  mode: 'create' | 'open',
  acknowledgements: number,
  meanwhile: () => Promise<void> = async () => {},
): Promise<Killed> {
  const script = fileURLToPath(new URL('./writer-process.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', script, root, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let told = ''
  let seen = 0
  try {
    for await (const chunk of child.stdout) {
      told += String(chunk)
      if (seen === 0) await meanwhile()
      seen = told.split('\n').length - 1
      if (seen > acknowledgements) break
    }
  } finally {
    child.kill('SIGKILL')
    await ended
  }
  return { acknowledged: Number(told.split('\n').at(-2)) }
}

/** Opens the session in this process; `leave` ends everything that was made for it. */
export async function openHere(
  root: string,
  id = 's',
): Promise<{ open: () => Promise<Session>; leave: () => Promise<void> }> {
  const world = nodeWorld()
  const ctx = new Context()
  ctx.provide('world', world)
  ctx.provide('sessionStore', jsonlStore(world, root))
  const fiber = await ctx.plugin(sessionPlugin)
  return {
    // What a checkpoint covers is looked at too.
    open: () => ctx.sessions.open(id, 'write', { whole: true }),
    async leave() {
      await fiber.dispose()
      world.dispose()
    },
  }
}
