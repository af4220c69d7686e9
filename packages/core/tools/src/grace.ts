/** Owns how long a stage may go on after an abort. */
import { PluginFailure } from '@sluice/listeners'
import { toolsErrors } from './errors.ts'
import type { CallState } from './state.ts'

/** `work`, unless the call is aborted and `graces` times the grace pass without its end: then a failure of `blamed()`. */
export function underGrace<T>(state: CallState, graces: number, work: Promise<T>, blamed: () => string): Promise<T> {
  const { limits, config } = state.machine
  const { source } = state.start
  const ms = graces * config.graceMs
  return new Promise((resolve, reject) => {
    let end: (() => void) | undefined
    const begin = () => {
      const limit = limits.watchdog.limit(ms, () =>
        reject(new PluginFailure('expired', blamed(), toolsErrors('TOOLS_ABANDONED', { ms }))),
      )
      end = () => limit.end()
    }
    const off = source.on(begin)
    if (source.aborted) begin()
    work.then(resolve, reject).finally(() => {
      off()
      end?.()
    })
  })
}
