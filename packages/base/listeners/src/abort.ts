/** Owns abort sources: one subscription per caller signal, signals made on demand. */
import { setMaxListeners } from 'node:events'

type Follower = (() => void) | AbortSource

/** Fires at most once. Callbacks run in the order in which they were added. */
export class AbortSource {
  private upstream: AbortSource | undefined
  private fired: { readonly reason: unknown } | undefined
  private controller: AbortController | undefined
  /** Most sources are followed by one or none. */
  private first: Follower | undefined
  private more: Set<Follower> | undefined

  /** Follows `upstream` (a caller's signal or another source) until {@link close}. */
  constructor(upstream?: AbortSignal | AbortSource) {
    if (upstream === undefined || upstream instanceof AbortSource) this.upstream = upstream
    else {
      this.upstream = sourceOf(upstream)
      this.upstream.add(this)
    }
  }

  get aborted(): boolean {
    return this.fired !== undefined || this.upstream?.aborted === true
  }

  get reason(): unknown {
    return this.fired ? this.fired.reason : this.upstream?.reason
  }

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController()
      // One signal serves all nested calls of a run: many listeners are no leak.
      setMaxListeners(0, this.controller.signal)
      if (this.aborted) this.controller.abort(this.reason)
      else this.upstream?.add(this)
    }
    return this.controller.signal
  }

  on(callback: () => void): () => void {
    this.add(callback)
    return () => this.remove(callback)
  }

  fire(reason: unknown): void {
    if (this.aborted) return
    this.fired = { reason }
    this.spread()
  }

  close(): void {
    if (this.aborted) this.fired = { reason: this.reason }
    this.upstream?.remove(this)
    this.upstream = this.first = this.more = undefined
  }

  protected get isFollowed(): boolean {
    return this.first !== undefined || (this.more?.size ?? 0) > 0
  }

  /** A source below another listens there only once somebody listens here. */
  protected add(follower: Follower): void {
    if (this.aborted) return
    if (!this.isFollowed) {
      this.upstream?.add(this)
      this.first = follower
    } else if (this.first !== follower) (this.more ??= new Set()).add(follower)
  }

  protected remove(follower: Follower): void {
    if (this.first === follower) this.first = undefined
    else this.more?.delete(follower)
  }

  protected spread(): void {
    this.controller?.abort(this.reason)
    const followers = this.first === undefined ? [] : [this.first]
    if (this.more) followers.push(...this.more)
    this.first = this.more = undefined
    for (const follower of followers) {
      if (typeof follower === 'function') follower()
      else follower.spread()
    }
  }
}

/** What follows a caller's signal: all sources made for it share its one subscription, which lasts until the last of them closes. */
class SignalSource extends AbortSource {
  private readonly given: AbortSignal
  private readonly follow = () => this.spread()

  constructor(given: AbortSignal) {
    super()
    this.given = given
  }

  override get aborted(): boolean {
    return this.given.aborted
  }

  override get reason(): unknown {
    return this.given.reason
  }

  protected override add(follower: Follower): void {
    if (!this.isFollowed && !this.aborted) this.given.addEventListener('abort', this.follow, { once: true })
    super.add(follower)
  }

  protected override remove(follower: Follower): void {
    super.remove(follower)
    if (!this.isFollowed) this.given.removeEventListener('abort', this.follow)
  }
}

const known = new WeakMap<AbortSignal, SignalSource>()

function sourceOf(signal: AbortSignal): AbortSource {
  let source = known.get(signal)
  if (!source) known.set(signal, (source = new SignalSource(signal)))
  return source
}
