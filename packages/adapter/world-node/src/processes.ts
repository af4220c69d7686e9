/** Owns the children of this host: every group that still lives is killed when the host, or the plugin, ends in any way. */
import type { Child, Processes } from '@sluice/base'
import { startChild } from './child.ts'
import { MARK, newMark } from './mark.ts'
import { endOrphans } from './orphans.ts'
import { isAlive, signalGroup, startTimeOf } from './proc.ts'
import { Reaper } from './reaper.ts'

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** On our own signal listeners, so that they are told from those of somebody who decides how the host ends. */
const ours = Symbol.for('sluice.world-node.ending')

export interface NodeProcesses extends Processes {
  /** Kills every living group and stops watching for the end of the host. */
  dispose(): void
}

export function nodeProcesses(): NodeProcesses {
  const children = new Set<Child>()
  const reaper = new Reaper()
  const killAll = () => {
    for (const child of children) if (child.groupAlive()) child.killGroup('SIGKILL')
    children.clear()
  }
  const onExit = () => killAll()
  // Without a listener such a signal ends Node before 'exit' is told; with ours alone it must still end Node.
  const onEnding = Object.assign(
    (signal: NodeJS.Signals) => {
      if (process.listeners(signal).some((listener) => !(ours in listener))) return
      killAll()
      watch()
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
    },
    { [ours]: true },
  )
  let watching = false
  /** Listens exactly while there are children. */
  const watch = () => {
    if (watching === children.size > 0) return
    watching = children.size > 0
    const change = watching ? ('on' as const) : ('off' as const)
    process[change]('exit', onExit)
    for (const signal of endings) process[change](signal, onEnding)
  }
  return {
    async spawn(options) {
      const { owner, env } = options
      const mark = owner === undefined ? undefined : newMark(owner)
      reaper.start()
      const child = await startChild(mark === undefined ? options : { ...options, env: { ...env, [MARK]: mark } }, mark)
      // Those of which something was left when they exited.
      for (const each of children) if (!each.groupAlive()) children.delete(each)
      children.add(child)
      watch()
      reaper.tell(children)
      void child.exited.then(() => {
        if (child.groupAlive()) return
        children.delete(child)
        watch()
        reaper.tell(children)
      })
      return child
    },
    isAlive,
    startTimeOf,
    killGroup: signalGroup,
    endOrphans,
    dispose() {
      killAll()
      watch()
      reaper.end()
    },
  }
}
