/** Owns abort sources: one subscription per caller signal, signals made on demand. */
import { setMaxListeners } from 'node:events'

/** Fires at most once. Callbacks run in the order in which they were added. */
export class AbortSource {
  aborted = false
  reason: unknown
  private readonly callbacks = new Set<() => void>()
  private controller: AbortController | undefined
  private readonly release: () => void

  /** Follows `upstream` (a caller's signal or another source) until {@link close}. */
  constructor(upstream?: AbortSignal | AbortSource) {
    if (upstream instanceof AbortSource) {
      this.release = upstream.on(() => this.fire(upstream.reason))
      if (upstream.aborted) this.fire(upstream.reason)
    } else if (upstream) {
      const follow = () => this.fire(upstream.reason)
      upstream.addEventListener('abort', follow, { once: true })
      this.release = () => upstream.removeEventListener('abort', follow)
      if (upstream.aborted) this.fire(upstream.reason)
    } else this.release = () => {}
  }

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController()
      // One signal serves all nested calls of a run: many listeners are no leak.
      setMaxListeners(0, this.controller.signal)
      if (this.aborted) this.controller.abort(this.reason)
    }
    return this.controller.signal
  }

  on(callback: () => void): () => void {
    this.callbacks.add(callback)
    return () => this.callbacks.delete(callback)
  }

  fire(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.controller?.abort(reason)
    const callbacks = [...this.callbacks]
    this.callbacks.clear()
    for (const callback of callbacks) callback()
  }

  close(): void {
    this.release()
    this.callbacks.clear()
  }
}
