/** Listens on `tools/pre-execute` and answers from rules and a mode. */
import { bare, type Call, required, type Verdict } from '@sluice/tools'
import type { Context } from 'cordis'
import z from 'schemastery'
import { decide, type Mode, modes } from './decide.ts'
import { parseRule } from './rules.ts'

export const name = 'permissions'
export const inject = ['tools']

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
  ctx.on(
    'tools/pre-execute',
    bare((call: Call, next: () => Verdict | PromiseLike<Verdict>) => {
      const verdict = decide(policy, call)
      return verdict.kind === 'abstain' ? next() : verdict
    }),
  )
})
