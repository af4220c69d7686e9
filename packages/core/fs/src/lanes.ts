/** Owns doing one thing at a time per name, in the order asked. */

export class Lanes {
  private readonly tails = new Map<string, Promise<unknown>>()

  isBusy(name: string): boolean {
    return this.tails.has(name)
  }

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.tails.get(name) ?? Promise.resolve()
    const mine = before.then(work, work)
    const tail = mine.catch(() => undefined)
    this.tails.set(name, tail)
    try {
      return await mine
    } finally {
      if (this.tails.get(name) === tail) this.tails.delete(name)
    }
  }
}
