/** Owns the first program inside: it starts the one that is asked for, tells how that ended, and keeps what it has left. */
import { constants } from 'node:os'
import type { ProcessExit } from '@sluice/base'

/** Its own words go to descriptor 3: a shell has some for a program that a signal has ended. Signals to the whole group are the
 *  program's to answer. What the program has left became a child of the first process; while there is any, the keeper stays. */
const KEEPER = `trap : HUP INT QUIT USR1 USR2 ALRM TERM PIPE
exec 4>&2 2>&3
(exec "$@" 2>&4 3>&- 4>&-)
code=$?
exec <&- >&- 4>&-
others() { { read -r children </proc/1/task/1/children; } 2>/dev/null; set -- $children; left=$#; }
others
echo "ended $code $left" >&3
while [ $left -gt 1 ]; do sleep 0.1 || kill -STOP $$; others; done
exit $code`

/** Characters of a report; what is inside could write on. */
const REPORT_CHARS_MAX = 4_000

/** What runs before the program, and its argument. */
export interface Before {
  readonly script: string
  readonly argument: string
}

export function keeperCommand(command: readonly string[], before?: Before): string[] {
  const script = (before?.script ?? '') + KEEPER
  return ['/bin/sh', '-c', script, 'sh', ...(before ? [before.argument] : []), ...command]
}

export class Report {
  private text = ''
  private tell!: (exit: ProcessExit) => void
  /** Resolves to how the program has ended, when something is left of it. */
  readonly left: Promise<ProcessExit>

  constructor() {
    this.left = new Promise((resolve) => {
      this.tell = resolve
    })
  }

  push(bytes: Uint8Array): void {
    if (this.text.length >= REPORT_CHARS_MAX) return
    this.text += new TextDecoder().decode(bytes)
    const exit = this.exit()
    if (exit && !this.text.endsWith(' 1\n')) this.tell(exit)
  }

  /** How the program ended, as far as it has been told; what is inside could tell it too, of itself. A shell tells a signal as 128 + n; it is one if the shell has words for it. */
  exit(): ProcessExit | undefined {
    const { words = '', told } = /^(?<words>[^]*?)ended (?<told>\d{1,3}) \d+\n$/.exec(this.text)?.groups ?? {}
    if (told === undefined) return undefined
    const code = Number(told)
    const signal = words.trim() === '' ? undefined : signalOf(code)
    return signal === undefined ? { code, signal: null } : { code: null, signal }
  }
}

/** The signal that an exit code stands for, if it stands for one. */
export function signalOf(code: number | null): NodeJS.Signals | undefined {
  const names = Object.keys(constants.signals) as NodeJS.Signals[]
  return names.find((name) => code === 128 + constants.signals[name])
}
