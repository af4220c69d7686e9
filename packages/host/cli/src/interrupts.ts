/** Owns what Ctrl-C means: the first stops what runs, the second ends the command. */
import type { Terminal } from './terminal.ts'

export interface Interrupts {
  /** Resolves when the command is to end at once. */
  readonly forced: Promise<'forced'>
  /** While the command waits for input a Ctrl-C fires this; before anything runs it ends the command. */
  idle(): AbortSignal
  /** While `work` runs, the first Ctrl-C calls `stop`. */
  during<T>(work: Promise<T>, stop: () => void): Promise<T>
  dispose(): void
}

export function interrupts(terminal: Terminal): Interrupts {
  let waiting: AbortController | undefined
  let stop: (() => void) | undefined
  let stopped = false
  let force: (value: 'forced') => void
  const forced = new Promise<'forced'>((resolve) => {
    force = resolve
  })
  const dispose = terminal.onInterrupt(() => {
    if (stop === undefined && waiting !== undefined) return waiting.abort()
    if (stop === undefined || stopped) return force('forced')
    stopped = true
    terminal.writeError('\nstopping; press Ctrl-C again to end at once\n')
    stop()
  })
  return {
    forced,
    dispose,
    idle() {
      waiting = new AbortController()
      return waiting.signal
    },
    async during(work, onStop) {
      stop = onStop
      stopped = false
      waiting = undefined
      try {
        return await work
      } finally {
        stop = undefined
      }
    },
  }
}
