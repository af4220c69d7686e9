/** Owns a confined process as its starter sees it. */
import { constants } from 'node:os'
import { type Child, type ProcessExit, sleep, type World } from '@sluice/base'
import { type Inside, insideOf } from './tree.ts'

type Signal = Parameters<Child['killGroup']>[0]

/** How long what ends with the program is waited for, and between two looks. */
const GONE_MS_MAX = 1_000
const LOOK_MS = 2

/** Signals reach what is inside, also what left the group; bubblewrap itself only dies of SIGKILL, and all with it. */
export function confinedChild(outer: Child, { processes, clock }: Pick<World, 'processes' | 'clock'>): Child {
  const sent = new Set<Signal>()
  let init: { readonly pid: number; readonly startedAt: string | undefined } | undefined
  const look = (): Inside => {
    const inside = insideOf(outer.pid)
    if (inside.init !== undefined) init = { pid: inside.init, startedAt: processes.startTimeOf(inside.init) }
    return inside
  }
  const groupAlive = () => outer.groupAlive() || (init !== undefined && processes.isAlive(init.pid, init.startedAt))
  // The kernel may still be busy ending what was inside; that is nothing that was left to be ended.
  const untilGone = async (exit: ProcessExit): Promise<ProcessExit> => {
    const until = clock.monotonic() + GONE_MS_MAX
    while (groupAlive() && clock.monotonic() < until) await sleep(clock, LOOK_MS)
    return named(exit, sent)
  }
  return {
    pid: outer.pid,
    startedAt: outer.startedAt,
    exited: outer.exited.then(untilGone),
    closed: outer.closed,
    killGroup(signal) {
      if (!groupAlive()) return
      sent.add(signal)
      const { rest } = look()
      // Without anything inside yet there is nothing that could tidy up.
      if (signal === 'SIGKILL' || rest.length === 0) outer.killGroup('SIGKILL')
      else for (const pid of rest) send(pid, signal)
    },
    groupAlive,
    detachOutput: () => outer.detachOutput(),
  }
}

/** Bubblewrap tells a signal that ended the program as an exit code; one that we sent is told as what it was. */
function named({ code, signal }: ProcessExit, sent: ReadonlySet<Signal>): ProcessExit {
  for (const each of sent) if (code === 128 + constants.signals[each]) return { code: null, signal: each }
  return { code, signal }
}

function send(pid: number, signal: Signal): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended meanwhile.
  }
}
