/** Owns lines of input: which of them belongs to which question. */

export class InputLines {
  /** Typed before anybody asked. */
  private readonly early: string[] = []
  private waiting: ((line: string | undefined) => void) | undefined
  private ended = false

  /** Somebody waits for a line that is still to come. */
  get awaited(): boolean {
    return this.waiting !== undefined
  }

  push(line: string): void {
    if (this.waiting) this.waiting(line)
    else this.early.push(line)
  }

  end(): void {
    this.ended = true
    this.waiting?.(undefined)
  }

  /** The oldest line that nobody has had; `undefined` at the end of input and when `signal` fires. */
  next(signal?: AbortSignal): Promise<string | undefined> {
    const line = this.early.shift()
    return line === undefined ? this.fresh(signal) : Promise.resolve(line)
  }

  /** Like {@link next}, but a line that came before this call is not taken: it answers something else. */
  fresh(signal?: AbortSignal): Promise<string | undefined> {
    if (this.ended || signal?.aborted) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const settle = (line: string | undefined) => {
        this.waiting = undefined
        signal?.removeEventListener('abort', stop)
        resolve(line)
      }
      const stop = () => settle(undefined)
      this.waiting = settle
      signal?.addEventListener('abort', stop, { once: true })
    })
  }
}
