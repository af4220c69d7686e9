export { AbortSource } from './abort.ts'
export type { TimeLimits } from './ask.ts'
export { ask, Asking, tell, underGrace } from './ask.ts'
export { listenerErrors } from './errors.ts'
export type {
  Awaitable,
  DeclaredEvent,
  EventKind,
  EventOf,
  EventTable,
  ListenersOf,
  Notification,
  Waterfall,
} from './events.ts'
export { defineEvents, notification, waterfall } from './events.ts'
export { abandonedFailure, abortedFailure, codeOf, failureOf, goneFailure, PluginFailure } from './failure.ts'
export type { Listener } from './listeners.ts'
export { bare, Listeners, pluginLabel } from './listeners.ts'
export { required, RequiredPlugins } from './required.ts'
export type { Asked } from './round.ts'
export { Round } from './round.ts'
export { counts, depth, narrowTo, scopeOf } from './scope.ts'
export type { Limit } from './watchdog.ts'
export { Watchdog, watchdogOf } from './watchdog.ts'
