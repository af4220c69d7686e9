/** Owns `sluice session grants` and `revoke`: the rules that a person has granted in a session, and taking one back. */
import type { World } from '@sluice/base'
import { grants } from '@sluice/permissions'
import { cliErrors } from './errors.ts'
import { EXIT } from './exit-code.ts'
import { momentText } from './moments.ts'
import { pluginText, printable } from './printable.ts'
import { told } from './session-command.ts'
import { refuseDamaged, withSession } from './session-place.ts'
import type { Terminal } from './terminal.ts'

/** Lists what calls pass without a question because a person said so. */
export function listGrants(terminal: Terminal, world: World, given: string): Promise<number> {
  return withSession(terminal, world, given, async (ctx, id) => {
    const session = await ctx.sessions.open(id, 'read')
    const { granted } = session.fold(grants)
    if (granted.length === 0) terminal.writeError(`nothing is always allowed in session ${id}\n`)
    for (const { rule, by, at } of granted)
      terminal.write(`${printable(rule)}  ${momentText(at)}  by ${pluginText(by)}\n`)
    return told(session.findings, (text) => terminal.writeError(text))
  })
}

/** Takes back a granted rule: its calls are asked about again.
 *  @throws CLI_NOT_GRANTED, CLI_SESSION_DAMAGED, SESSION_LOCKED */
export function revokeGrant(terminal: Terminal, world: World, given: string, rule: string): Promise<number> {
  return withSession(terminal, world, given, async (ctx, id) => {
    const { granted } = (await ctx.sessions.open(id, 'read')).fold(grants)
    if (!granted.some((grant) => grant.rule === rule)) throw cliErrors('CLI_NOT_GRANTED', { id, rule })
    const session = await ctx.sessions.open(id)
    try {
      refuseDamaged(session)
      session.append('permission/revoked', { rule, by: 'sluice session revoke' })
      await session.durable()
    } finally {
      await session.close()
    }
    terminal.write(`revoked ${printable(rule)} in session ${id}\n`)
    return EXIT.done
  })
}
