/** Owns the least that makes lines durable: one sync for each, and one for all that have come meanwhile. */
import { closeSync, fdatasync, fdatasyncSync, openSync, write, writeSync } from 'node:fs'

/** A line as long as ours, without its crc. */
function lineOf(seq: number, data: unknown): string {
  return `${JSON.stringify({ seq, at: Date.now(), type: 'user/message', data })}\n`
}

/** Microseconds of each line, written and synced before the next. */
export function eachSynced(path: string, count: number, data: (n: number) => unknown): readonly number[] {
  const file = openSync(path, 'a')
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    const start = performance.now()
    writeSync(file, lineOf(n, data(n)))
    fdatasyncSync(file)
    times.push((performance.now() - start) * 1_000)
  }
  closeSync(file)
  return times
}

/** Nothing is checked, copied, kept, numbered by a caller or written again; a failure ends the process. */
export class GroupCommit {
  private readonly file: number
  private seq = 0
  private text = ''
  private waiting: (() => void)[] = []
  private isRunning = false

  constructor(path: string) {
    this.file = openSync(path, 'a')
  }

  append(data: unknown): Promise<void> {
    return new Promise((resolve) => {
      this.text += lineOf(this.seq++, data)
      this.waiting.push(resolve)
      if (this.isRunning) return
      this.isRunning = true
      queueMicrotask(() => this.flush())
    })
  }

  close(): void {
    closeSync(this.file)
  }

  private flush(): void {
    const { text, waiting } = this
    this.text = ''
    this.waiting = []
    write(this.file, text, (failure) => {
      if (failure) throw failure
      fdatasync(this.file, (error) => {
        if (error) throw error
        for (const resolve of waiting) resolve()
        if (this.waiting.length > 0) this.flush()
        else this.isRunning = false
      })
    })
  }
}
