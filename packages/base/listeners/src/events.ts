/** Owns the declaration of Cordis events: who emits them, how they are dispatched, when they happen, what a listener is. */

export type Awaitable<T> = T | PromiseLike<T>

/** A waterfall asks its listeners, a notification tells them. */
export type EventKind = 'waterfall' | 'notification'

declare const listener: unique symbol

export interface DeclaredEvent<Kind extends EventKind = EventKind, Listener = unknown> {
  readonly kind: Kind
  /** One sentence: when it happens, and what an answer does. */
  readonly when: string
  /** Stages of a call during which it happens, besides those that their table opens by it. */
  readonly during: readonly string[]
  /** In types only. */
  readonly [listener]?: Listener
}

/** `Next`: what `next()` gives; a promise only when somebody makes it wait, unless the event says more. */
export type Waterfall<
  Facts extends readonly unknown[],
  Answer,
  Next extends Awaitable<Answer> = Awaitable<Answer>,
> = DeclaredEvent<'waterfall', (...args: [...facts: Facts, next: () => Next]) => Awaitable<Answer>>

export type Notification<Facts extends readonly unknown[]> = DeclaredEvent<'notification', (...facts: Facts) => void>

/** The events of one plugin. A module that exports it shows them in the printed reference. */
export interface EventTable<Events = Readonly<Record<string, DeclaredEvent>>> {
  /** Name of the plugin that emits them. */
  readonly emitter: string
  readonly events: Events
}

/** Names of the events in a table, of one kind where one is given. */
export type EventOf<Table extends EventTable, Kind extends EventKind = EventKind> = {
  [Name in keyof Table['events'] & string]: Table['events'][Name]['kind'] extends Kind ? Name : never
}[keyof Table['events'] & string]

/** For Cordis' `Events` to extend: each event of a table with the type of its listeners. */
export type ListenersOf<Table extends EventTable> = {
  [Name in EventOf<Table>]: NonNullable<Table['events'][Name][typeof listener]>
}

/** An event whose listeners are asked with `facts` and `next()`. */
export function waterfall<Facts extends readonly unknown[], Answer, Next extends Awaitable<Answer> = Awaitable<Answer>>(
  when: string,
  ...during: readonly string[]
): Waterfall<Facts, Answer, Next> {
  return Object.freeze({ kind: 'waterfall', when, during: Object.freeze(during) })
}

/** An event whose listeners are told `facts`. */
export function notification<Facts extends readonly unknown[]>(
  when: string,
  ...during: readonly string[]
): Notification<Facts> {
  return Object.freeze({ kind: 'notification', when, during: Object.freeze(during) })
}

export function defineEvents<Events extends Readonly<Record<string, DeclaredEvent>>>(
  emitter: string,
  events: Events,
): EventTable<Events> {
  return Object.freeze({ emitter, events: Object.freeze(events) })
}
