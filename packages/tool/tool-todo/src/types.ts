/** Owns the words of a todo list. */
import type {} from '@sluice/session'

export interface TodoItem {
  readonly text: string
  readonly status: 'pending' | 'doing' | 'done'
}

/** One event is the whole list as the model wrote it: the last one is the state. */
export interface TodoWriteData {
  callId: string
  items: readonly TodoItem[]
}

declare module '@sluice/session' {
  interface SessionEventMap {
    'todo/write': TodoWriteData
  }
}
