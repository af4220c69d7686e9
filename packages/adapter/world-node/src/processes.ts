/** Owns the children of this host: every group that still lives is killed when the host, or the plugin, ends. */
import type { Child, Processes } from '@sluice/base'
import { startChild } from './child.ts'
import { isAlive, signalGroup, startTimeOf } from './proc.ts'

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** On our own signal listeners, so that they are told from those of somebody who decides how the host ends. */
const ours = Symbol.for('sluice.world-node.ending')

export interface NodeProcesses extends Processes {
  /** Kills every living group and stops watching for the end of the host. */
  dispose(): void
}

export function nodeProcesses(): NodeProcesses {
  const children = new Set<Child>()
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
      const child = await startChild(options)
      children.add(child)
      watch()
      void child.exited.then(() => {
        if (child.groupAlive()) return
        children.delete(child)
        watch()
      })
      return child
    },
    isAlive,
    startTimeOf,
    killGroup: signalGroup,
    dispose() {
      killAll()
      watch()
    },
  }
}
