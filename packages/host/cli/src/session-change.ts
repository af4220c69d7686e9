/** Owns changing what is recorded: repair, fork, delete, prune, unlock. */
import type { World } from '@sluice/base'
import { isSluiceError } from '@sluice/base'
import { type SessionEvent, type Sessions, type SessionSummary, sessionErrors } from '@sluice/session'
import { type Consent, confirmed } from './confirm.ts'
import { EXIT } from './exit-code.ts'
import { formatError } from './format-error.ts'
import { printableLine } from './printable.ts'
import { summaryText, told } from './session-command.ts'
import { withSession, withSessions } from './session-place.ts'
import type { Terminal } from './terminal.ts'

/** Makes a damaged log whole, keeps what it was, and says what cannot be mended. */
export function repairSession(terminal: Terminal, world: World, given: string): Promise<number> {
  return withSession(terminal, world, given, async (ctx, id) => {
    const { findings, lost, backup } = await ctx.sessions.repair(id)
    told(findings, (text) => terminal.write(text))
    const left = await ctx.sessions.scan(id, () => {})
    if (backup === undefined) {
      terminal.write(left.length === 0 ? `session ${id} needs no repair\n` : `session ${id}: nothing could be mended\n`)
    } else {
      const gone = lost === 0 ? 'no event is lost' : `${counted(lost, 'event')} lost, session/lost in the place of each`
      terminal.write(`repaired session ${id}: ${gone}\nthe log as it was: ${backup}\n`)
    }
    return told(left, (text) => terminal.writeError(`still ${text}`))
  })
}

/** Prints the id of a new session with the same past up to the end of a turn. */
export function forkSession(
  terminal: Terminal,
  world: World,
  given: string,
  { at }: { readonly at?: number },
): Promise<number> {
  return withSession(terminal, world, given, async (ctx, id) => {
    const child = await ctx.sessions.fork(id, at === undefined ? {} : { seq: at })
    const { parent } = (child.events[0] as SessionEvent<'session/started'>).data
    await child.close()
    const why = at === undefined || at === parent?.seq ? '' : `, the last end of a turn before event ${at}`
    terminal.writeError(`forked session ${id} after event ${parent?.seq}${why}\n`)
    terminal.write(`${child.id}\n`)
    return EXIT.done
  })
}

/** Removes a session that nobody writes, as it was when the question was put. */
export function deleteSession(terminal: Terminal, world: World, given: string, consent: Consent): Promise<number> {
  return withSession(terminal, world, given, async ({ sessions }, id) => {
    await refuseIfHeld(sessions, id)
    const summary = (await sessions.list()).find((each) => each.id === id)
    const about = summary ? ` (${summaryText(summary)})` : ''
    return confirmed(terminal, `Delete session ${id}${about}?`, consent, async () => {
      await sessions.remove(id, summary?.last?.seq)
      terminal.write(`deleted session ${id}\n`)
      return EXIT.done
    })
  })
}

export interface PruneOptions extends Consent {
  readonly olderThan: number
  readonly dryRun?: boolean
}

/** Removes sessions whose last event is older; those that are written, or cannot be read, stay. */
export function pruneSessions(terminal: Terminal, world: World, options: PruneOptions): Promise<number> {
  return withSessions(world, undefined, async ({ sessions }) => {
    const before = world.clock.now() - options.olderThan
    const old: SessionSummary[] = []
    let kept = 0
    for (const summary of await sessions.list()) {
      const { id, last } = summary
      if (last && last.at >= before) continue
      const why = last ? await whyHeld(sessions, id) : (summary.problem ?? 'its age is unknown')
      if (why === undefined) old.push(summary)
      else terminal.writeError(`kept ${id}: ${printableLine(why, 300)}\n`)
      if (why !== undefined) kept++
    }
    const skipped = kept === 0 ? '' : `, kept ${kept} that ${kept === 1 ? 'is' : 'are'} in use or cannot be read`
    if (old.length === 0) {
      terminal.write(`nothing to delete${skipped}\n`)
      return EXIT.done
    }
    for (const summary of old) terminal.write(`${summary.id}  ${summaryText(summary)}\n`)
    if (options.dryRun) {
      terminal.write(`would delete ${counted(old.length, 'session')}${skipped}\n`)
      return EXIT.done
    }
    const question = `Delete ${counted(old.length, 'session')}?`
    return confirmed(terminal, question, options, () => removeAll(terminal, sessions, old, skipped))
  })
}

/** One that cannot be removed, or has gone on since it was listed, does not keep the others. */
async function removeAll(
  terminal: Terminal,
  sessions: Sessions,
  old: readonly SessionSummary[],
  skipped: string,
): Promise<number> {
  let failed = 0
  for (const { id, last } of old) {
    try {
      await sessions.remove(id, last?.seq)
    } catch (error) {
      failed++
      terminal.writeError(formatError(error))
    }
  }
  terminal.write(`deleted ${counted(old.length - failed, 'session')}${skipped}${failed ? `, failed ${failed}` : ''}\n`)
  return failed > 0 ? EXIT.failed : EXIT.done
}

/** Takes a session away from a host that is gone. */
export function unlockSession(terminal: Terminal, world: World, given: string, consent: Consent): Promise<number> {
  return withSession(terminal, world, given, async ({ sessions }, id) => {
    const holder = await sessions.holder(id)
    if (!holder) {
      terminal.write(`nobody writes session ${id}\n`)
      return EXIT.done
    }
    if (holder.host === world.host.hostname) throw sessionErrors('SESSION_LOCKED', { id, ...holder })
    const { pid, host } = holder
    const question = `Process ${pid} on ${printableLine(host, 100)} holds session ${id}, and nobody here can see whether it lives. What it still writes will be lost. Take the session away from it?`
    return confirmed(terminal, question, consent, async () => {
      await sessions.unlock(id, holder)
      terminal.write(`took session ${id} away from process ${pid} on ${printableLine(host, 100)}\n`)
      return EXIT.done
    })
  })
}

async function refuseIfHeld(sessions: Sessions, id: string): Promise<void> {
  const holder = await sessions.holder(id)
  if (holder) throw sessionErrors('SESSION_LOCKED', { id, ...holder })
}

async function whyHeld(sessions: Sessions, id: string): Promise<string | undefined> {
  try {
    await refuseIfHeld(sessions, id)
    return undefined
  } catch (error) {
    if (isSluiceError(error)) return error.message
    throw error
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
