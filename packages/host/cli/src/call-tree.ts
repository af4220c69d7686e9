/** Owns which call of the model a nested call belongs to, and how deep inside it is. */
import type { SessionEvent } from '@sluice/session'

export interface CallPlace {
  /** The call of the model. */
  readonly root: string
  readonly depth: number
}

export class CallTree {
  private readonly places = new Map<string, CallPlace>()

  placeOf({ callId, parent, phase }: SessionEvent<'tool/code-dispatch'>['data']): CallPlace {
    const above = this.places.get(parent) ?? { root: parent, depth: 0 }
    const place = { root: above.root, depth: above.depth + 1 }
    if (phase === 'start') this.places.set(callId, place)
    return place
  }

  /** Forgets what was inside a call that is over. */
  end(root: string): void {
    for (const [callId, place] of this.places) if (place.root === root) this.places.delete(callId)
  }
}
