/** Owns a confined process as its starter sees it. */
import { type Child, type Clock, type Crowd, type ProcessExit, sleep } from '@sluice/base'
import { type Report, signalOf } from './keeper.ts'
import { insideOf, leftIn } from './tree.ts'

type Signal = Parameters<Child['killGroup']>[0]

/** How long the end of what ends with bubblewrap is waited for before it is told, how long in all, and between two looks. */
const TOLD_MS_MAX = 1_000
const GONE_MS_MAX = 60_000
const LOOK_MS = 2
/** Between two looks at how many processes there are. */
const CROWD_LOOK_MS = 100
/** Processes that are asked to end one by one; the others are not. */
const ASKED_MAX = 1_000

export interface Confined {
  /** Bubblewrap. */
  readonly outer: Child
  readonly report: Report
  readonly clock: Clock
  readonly crowd?: Crowd | undefined
  /** Takes away what was made for the start, when nothing is left that it could be made for. */
  readonly release: () => Promise<void>
}

/** Signals reach what is inside, also what left the group; bubblewrap itself only dies of SIGKILL, and all with it. */
export function confinedChild({ outer, report, clock, crowd, release }: Confined): Child {
  const sent = new Set<Signal>()
  let over = false
  const gone = (async () => {
    const exit = await outer.exited
    const until = clock.monotonic() + GONE_MS_MAX
    // The kernel may still be busy ending what was inside; that is nothing that was left to be ended.
    while (outer.groupAlive() && clock.monotonic() < until) await sleep(clock, LOOK_MS)
    await release()
    over = !outer.groupAlive()
    return exit
  })()
  const ended = async () => {
    const exit = await outer.exited
    await Promise.race([Promise.all([gone, outer.closed]), sleep(clock, TOLD_MS_MAX)])
    return named(report.exit() ?? exit, sent)
  }
  if (crowd) void watchCrowd(outer, clock, crowd)
  let hasLeft = false
  // The end of what is left is not waited for, no more than without confinement.
  const left = report.left.then((exit) => {
    hasLeft = true
    return leftIn(outer.pid) ? named(exit, sent) : ended()
  })
  return {
    pid: outer.pid,
    startedAt: outer.startedAt,
    exited: Promise.race([left, ended()]),
    closed: outer.closed,
    killGroup(signal) {
      if (over || !outer.groupAlive()) return
      sent.add(signal)
      // Looking inside first would give a crowd the time to grow.
      const inside = signal === 'SIGKILL' ? [] : insideOf(outer.pid, ASKED_MAX)
      // Without anything inside yet there is nothing that could tidy up.
      if (inside.length === 0) outer.killGroup('SIGKILL')
      else for (const pid of inside) send(pid, signal)
    },
    groupAlive() {
      // The keeper would see it too, later.
      if (hasLeft && !over && !leftIn(outer.pid)) outer.killGroup('SIGKILL')
      return !over
    },
    detachOutput: () => outer.detachOutput(),
  }
}

async function watchCrowd(outer: Child, clock: Clock, { processesMax, onCrowd }: Crowd): Promise<void> {
  let ended = false
  void outer.exited.then(() => {
    ended = true
  })
  while (insideOf(outer.pid, processesMax + 1).length <= processesMax) {
    await sleep(clock, CROWD_LOOK_MS)
    if (ended) return
  }
  onCrowd()
}

/** Where the shell inside has no words for a signal, one that we sent is told as what it was. */
function named({ code, signal }: ProcessExit, sent: ReadonlySet<string>): ProcessExit {
  const meant = signalOf(code)
  return meant !== undefined && sent.has(meant) ? { code: null, signal: meant } : { code, signal }
}

function send(pid: number, signal: Signal): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended meanwhile.
  }
}
