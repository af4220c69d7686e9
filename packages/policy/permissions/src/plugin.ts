/** Listens on `tools/pre-execute` and answers from rules, grants and a mode; writes down what a person grants. */
import type {} from '@sluice/approval'
import type { Session } from '@sluice/session'
import { bare, type Call, required } from '@sluice/tools'
import type { Context } from 'cordis'
import z from 'schemastery'
import { decide, type Mode, modes } from './decide.ts'
import { grants, offeredIn } from './grants.ts'
import { parseRule } from './rules.ts'

export const name = 'permissions'
export const inject = ['tools', 'sessions']

export interface Config {
  mode: Mode
  allow: string[]
  ask: string[]
  deny: string[]
  edits: string[]
}

export const Config: z<Partial<Config>, Config> = z.object({
  mode: z.union(modes).default('default').description('What happens to calls that no rule covers.'),
  allow: z.array(z.string()).default([]).description('Rules whose calls run.'),
  ask: z.array(z.string()).default([]).description('Rules whose calls are put to a person.'),
  deny: z.array(z.string()).default([]).description('Rules whose calls never run.'),
  edits: z
    .array(z.string())
    .default(['edit', 'write'])
    .description('Names of the tools that the mode accept-edits allows.'),
})

export const apply = required((ctx: Context, config: Config): void => {
  const read = (list: 'allow' | 'ask' | 'deny') => config[list].map((text) => parseRule(list, text))
  const { mode, edits } = config
  const policy = { mode, edits, allow: read('allow'), ask: read('ask'), deny: read('deny') }
  ctx.sessions.registerFold(grants)
  ctx.on(
    'tools/pre-execute',
    bare((call: Call) => decide(policy, call, call.session.fold(grants).granted)),
  )
  // Before whoever else listens: what one of them throws keeps no grant from being written.
  ctx.on('approval/offer-taken', ({ sessionId }) => settle(ctx, ctx.sessions.get(sessionId)), { prepend: true })
})

/** Writes down each rule that a person has chosen, and allows the open calls that wait for the same one. Whoever calls, only
 *  the log says what was chosen. */
function settle(ctx: Context, session: Session | undefined): void {
  if (!session) return
  for (const { seq, rule, by } of session.fold(grants).chosen) {
    session.append('permission/granted', { rule, by }, { cause: seq })
    for (const { callId, sessionId, asks } of ctx.get('approval')?.open() ?? [])
      if (sessionId === session.id && offeredIn(asks).includes(rule))
        ctx.get('approval')?.answer(sessionId, { callId, kind: 'allow-once' }, name)
  }
}
