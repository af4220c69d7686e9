/** Owns identifiers: short, sortable by time where they name a session, unguessable enough to be unique. */
import type { World } from './world.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

function randomText(world: Pick<World, 'random'>, length: number): string {
  let text = ''
  for (const byte of world.random.bytes(length)) text += alphabet[byte & 31]
  return text
}

/** `YYYYMMDD-HHMMSS-xxxxxxxx` in UTC: sorts by start. */
export function mintSessionId(world: Pick<World, 'random' | 'clock'>): string {
  const iso = new Date(world.clock.now()).toISOString()
  return `${iso.slice(0, 10).replaceAll('-', '')}-${iso.slice(11, 19).replaceAll(':', '')}-${randomText(world, 8)}`
}

/** `prefix_` and twelve random characters (60 bits). */
export function mintId(world: Pick<World, 'random'>, prefix: string): string {
  return `${prefix}_${randomText(world, 12)}`
}
