/** Owns how the policy takes part: as a check of files, on calls that name a path, and on intents. */
import { hasConsent } from '@sluice/approval'
import type { EditIntent, IntentVerdict, WriteIntent } from '@sluice/fs'
import type {} from '@sluice/sandbox'
import { bare, type Call, required, type Verdict } from '@sluice/tools'
import type { Context } from 'cordis'
import z from 'schemastery'
import { callVerdict } from './calls.ts'
import { consentRule } from './consent.ts'
import { Judge, type JudgeConfig } from './judge.ts'
import { workspaceErrors } from './errors.ts'
import { AUTHORITY, Patterns, SECRETS } from './patterns.ts'

export const name = 'workspace'
export const inject = ['fs', 'tools']

export interface Config extends JudgeConfig {
  tools: string[]
}

const texts = (initial: readonly string[]) => z.array(z.string()).default([...initial])

export const Config: z<Partial<Config>, Config> = z.object({
  roots: texts([]).description('Folders that may be read and written beside the working folder.'),
  readOnlyRoots: texts([]).description('Folders that may only be read; also below a writable one.'),
  secrets: texts(SECRETS).description('Patterns of files that are not shown.'),
  authority: texts(AUTHORITY).description('Patterns of files whose change a person must allow each time.'),
  authorityPaths: texts([]).description('Files and folders like these by path, such as the composition in use.'),
  authorityWrites: z
    .union(['ask', 'deny'] as const)
    .default('ask')
    .description('Whether such a change can be allowed at all.'),
  protectedPaths: texts([]).description('Files and folders that no tool changes, such as those of the session logs.'),
  tools: texts(['read', 'write', 'edit', 'list', 'glob', 'grep']).description(
    'Tools whose argument `path` is looked at before they run.',
  ),
})

export const apply = required((ctx: Context, config: Config): void => {
  const { fs, tools } = ctx
  const judge = new Judge(fs, config)
  const secrets = new Patterns(config.secrets)
  const watched = new Set(config.tools)
  // Processes are held to the same folders, where something confines them.
  ctx.inject(['sandbox'], ({ sandbox }) => void sandbox.workspace((session) => judge.folders(session)))
  fs.restrict('workspace', (target, access, session) => judge.refusal(target, access, session))
  tools.guard('workspace', ({ tool, args: { path }, annotations }) => {
    if (!watched.has(tool) || annotations.readOnly !== true || typeof path !== 'string') return undefined
    return secrets.match(path, false) ? workspaceErrors('WORKSPACE_SECRET', { path, real: path }).message : undefined
  })
  ctx.on(
    'tools/pre-execute',
    bare((call: Call, next: () => Verdict | PromiseLike<Verdict>) =>
      watched.has(call.tool) ? callVerdict(judge, fs, call, next) : next(),
    ),
  )
  const agreed = async (intent: EditIntent | WriteIntent): Promise<IntentVerdict> => {
    const { target, session, call } = intent
    const refusal = await judge.grants(target, session)
    if (!refusal || hasConsent(session, call.id, consentRule(target))) return { kind: 'pass' }
    return { kind: 'deny', ...refusal }
  }
  ctx.on('fs/edit-intent', agreed)
  ctx.on('fs/write-intent', agreed)
})
