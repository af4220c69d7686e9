/** Owns one run of ripgrep. */
import { messageOf, type World } from '@sluice/base'
import { searchErrors } from './errors.ts'
import type { Reader } from './records.ts'

/** Characters of its complaints that are kept. */
const STDERR_MAX = 4_000

export interface RipgrepOptions {
  readonly world: Pick<World, 'processes' | 'host'>
  readonly cwd: string
  readonly args: readonly string[]
  readonly reader: Reader
  readonly signal: AbortSignal
}

export interface RipgrepEnd {
  /** True when not all of its output was read. */
  readonly stopped: boolean
  /** Something could not be read. */
  readonly unreadable: boolean
}

/** What every run has: no configuration of a user, ignore files without a repository too, hidden files but not `.git`. */
const always = ['--no-config', '--color=never', '--no-messages', '--hidden', '--no-require-git', '--glob=!.git']

let found: Promise<string> | undefined

/** Looked for at the first search: the package throws while it is imported when its program is missing. */
async function programPath(): Promise<string> {
  found ??= import('@vscode/ripgrep').then((module) => module.rgPath)
  try {
    return await found
  } catch (error) {
    found = undefined
    throw searchErrors('SEARCH_FAILED', { problem: messageOf(error) }, { cause: error })
  }
}

/** Resolves when the program has ended; rejects with the signal's reason after an abort.
 *  @throws SEARCH_FAILED, SEARCH_PATTERN_INVALID */
export async function ripgrep(options: RipgrepOptions): Promise<RipgrepEnd> {
  const { world, cwd, signal, reader } = options
  const file = await programPath()
  signal.throwIfAborted()
  const decoder = new TextDecoder()
  let complaints = ''
  let stopped = false
  let stop = () => {}
  const child = await world.processes
    .spawn({
      file,
      args: [...always, ...options.args],
      cwd,
      env: environment(world.host.env),
      onStdout(bytes) {
        if (stopped || reader.push(bytes)) return
        stopped = true
        stop()
      },
      onStderr(bytes) {
        if (complaints.length < STDERR_MAX) complaints += decoder.decode(bytes, { stream: true })
      },
    })
    .catch((error: unknown) => {
      throw searchErrors('SEARCH_FAILED', { problem: messageOf(error) }, { cause: error })
    })
  stop = () => child.killGroup('SIGKILL')
  if (stopped || signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  const { code } = await child.exited
  // What it printed may still be on its way.
  await child.closed
  signal.removeEventListener('abort', stop)
  signal.throwIfAborted()
  return endOf(code, stopped, complaints.slice(0, STDERR_MAX).trim())
}

function endOf(code: number | null, stopped: boolean, complaints: string): RipgrepEnd {
  if (stopped || code === 0 || code === 1) return { stopped, unreadable: false }
  if (code === 2 && complaints === '') return { stopped, unreadable: true }
  const problem = complaints.replace(/^rg: /, '')
  if (/regex (parse )?error|PCRE2|regex could not be compiled|literal .* not allowed/i.test(complaints)) {
    throw searchErrors('SEARCH_PATTERN_INVALID', { problem })
  }
  throw searchErrors('SEARCH_FAILED', { problem: problem || `ripgrep ended with ${code ?? 'a signal'}` })
}

/** Where a user's own ignore file is found; nothing else of the host matters. */
function environment(host: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = ['HOME', 'XDG_CONFIG_HOME']
  return Object.fromEntries(names.flatMap((name) => (host[name] === undefined ? [] : [[name, host[name]]])))
}
