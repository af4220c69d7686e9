/** Owns what every event has, whatever its type. */
import type { Json } from '@sluice/base'
import type { SessionEventMap, SessionEventType } from './event-map.ts'

/** One event as it stands in the log. Deeply frozen. */
export interface SessionEvent<T extends string = string> {
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly type: T
  readonly data: T extends SessionEventType ? Readonly<SessionEventMap[T]> : Json
  /** Sequence number of the event that this one answers. */
  readonly cause?: number
  /** A reader that does not know the type may skip it. */
  readonly optional?: true
}

/** Any event of the core vocabulary, discriminated by `type`. */
export type KnownEvent = { [T in SessionEventType]: SessionEvent<T> }[SessionEventType]
