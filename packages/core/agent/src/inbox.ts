/** Owns what waits for an agent: prompts for the next turn, steering and contexts for the next step. */
import { BoundedQueue } from '@sluice/base'
import type { TurnResult } from './types.ts'

/** How many items of each kind may wait. */
export const INBOX_MAX = 1000

export interface Input {
  readonly text: string
  readonly source: string
}

export interface Prompt extends Input {
  settle(result: TurnResult): void
}

export class Inbox {
  readonly prompts = new BoundedQueue<Prompt>('agent prompts', INBOX_MAX)
  readonly steering = new BoundedQueue<Input>('agent steering', INBOX_MAX)
  readonly contexts = new BoundedQueue<Input>('agent contexts', INBOX_MAX)

  get size(): number {
    return this.prompts.size + this.steering.size + this.contexts.size
  }

  /** What starts the next turn: steering that came too late for the last one, then the oldest prompt. */
  claim(): Prompt | undefined {
    const late = this.steering.shift()
    return late ? { ...late, settle: () => {} } : this.prompts.shift()
  }
}
