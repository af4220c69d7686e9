/** Owns waiting for plugins, each wait with a bound. */
import type { Clock } from '@sluice/base'
import type { Context } from 'cordis'
import { fibersOf } from './mounted.ts'

/** True when `work` ends, in whatever way, within `ms`. */
export async function endsWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  let cancel: () => void = () => {}
  const expired = new Promise<false>((resolve) => {
    cancel = clock.timer(ms, () => resolve(false))
  })
  const ended = work.then(
    () => true,
    () => true,
  )
  try {
    return await Promise.race([ended, expired])
  } finally {
    cancel()
  }
}

async function allSettled(ctx: Context): Promise<void> {
  while (true) {
    const tasks = fibersOf(ctx).flatMap((fiber) => (fiber.inertia === undefined ? [] : [fiber.inertia]))
    if (tasks.length === 0) return
    await Promise.allSettled(tasks)
  }
}

/** True when everything mounted in `ctx` has settled, false when `ms` have passed before. */
export function settled(ctx: Context, clock: Clock, ms: number): Promise<boolean> {
  return endsWithin(clock, ms, allSettled(ctx))
}
