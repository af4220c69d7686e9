/** Owns the failures of listeners. */
import { defineErrors } from '@sluice/base'

export const listenerErrors = defineErrors({
  LISTENER_FAILED: {
    when: 'a listener or guard throws an error without a code',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Mend the plugin that is named.',
  },
  LISTENER_EXPIRED: {
    when: 'a listener uses up its own time',
    message: (d: { event: string; ms: number }) => `${d.event}: no answer within ${d.ms} ms`,
    remedy: 'Make the listener faster, or raise its time limit in the configuration of the plugin that asks.',
  },
  LISTENER_ABANDONED: {
    when: 'listeners still run when the grace after an abort ends',
    message: (d: { ms: number }) => `no end within ${d.ms} ms after the abort`,
    remedy: 'Let listeners follow the signal that they are given.',
  },
  LISTENER_GONE: {
    when: 'the plugin of a listener or guard unloads before it has answered',
    message: (d: { event: string }) => `${d.event}: its plugin was unloaded before it had answered`,
    remedy: 'Call again once the plugin is mounted.',
  },
})
