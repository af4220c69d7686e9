/** Owns ending a process group: asked, then forced, and looked at until it is gone. */
import { type Child, type Clock, sleep } from '@sluice/base'

/** Between two looks at a group. */
const POLL_MS = 20
/** How long a forced group is looked at before it counts as alive. */
export const KILL_WAIT_MS = 1_000

/** Ends every process of the group, without asking where there is no grace; true when none is left. */
export async function endGroup(child: Child, clock: Clock, graceMs: number): Promise<boolean> {
  if (graceMs > 0) {
    child.killGroup('SIGTERM')
    if (await goneWithin(child, clock, graceMs)) return true
  }
  // What comes into being while the group is killed is killed at the next look.
  return goneWithin(child, clock, KILL_WAIT_MS, () => child.killGroup('SIGKILL'))
}

async function goneWithin(child: Child, clock: Clock, ms: number, beforeEachLook = () => {}): Promise<boolean> {
  const until = clock.monotonic() + ms
  for (;;) {
    beforeEachLook()
    if (!child.groupAlive()) return true
    if (clock.monotonic() >= until) return false
    await sleep(clock, POLL_MS)
  }
}
