/** Owns the verdict on a call: rules first, deny before ask before allow, then what was granted, then the mode. */
import type { Call, Verdict } from '@sluice/tools'
import { exactRule, type Grant } from './grants.ts'
import { askedByRule, deniedByRule, headlessReason, planReason } from './prompt.ts'
import { covers, names, type Rule } from './rules.ts'

export const modes = ['default', 'accept-edits', 'plan', 'bypass', 'headless'] as const
export type Mode = (typeof modes)[number]

export interface Policy {
  readonly mode: Mode
  readonly allow: readonly Rule[]
  readonly ask: readonly Rule[]
  readonly deny: readonly Rule[]
  /** Names of the tools that `accept-edits` allows: what a tool calls itself besides does not count. */
  readonly edits: readonly string[]
}

type Judged = Pick<Call, 'tool' | 'aliases' | 'specifier' | 'annotations'>

export function decide(policy: Policy, call: Judged, granted: readonly Grant[]): Verdict {
  const deny = policy.deny.find((rule) => covers(rule, call))
  if (deny) return { kind: 'deny', reason: deniedByRule, rule: deny.text }
  const mutates = !(call.annotations.readOnly || call.annotations.transparent)
  if (policy.mode === 'plan' && mutates) return { kind: 'deny', reason: planReason }
  const ask = policy.ask.find((rule) => covers(rule, call)) ?? unclear(policy, call)
  if (ask && policy.mode !== 'headless') return { kind: 'ask', reason: askedByRule, rule: ask.text }
  const allow = ask ? undefined : policy.allow.find((rule) => covers(rule, call))
  if (allow) return { kind: 'allow', rule: allow.text }
  const exact = ask || granted.length === 0 ? undefined : exactRule(call)
  const grant = granted.find(({ rule }) => rule === exact)
  if (grant) return { kind: 'allow', reason: `granted by ${grant.by}`, rule: grant.rule }
  return byMode(policy, call, mutates, ask)
}

/** A rule that restricts some calls of the tool, when this call does not say which it is: it may be one of them. */
function unclear({ deny, ask }: Policy, call: Judged): Rule | undefined {
  return call.specifier === undefined ? [...deny, ...ask].find((rule) => names(rule, call)) : undefined
}

function byMode({ mode, edits }: Policy, call: Judged, mutates: boolean, ask: Rule | undefined): Verdict {
  const allow: Verdict = { kind: 'allow', reason: `mode ${mode}` }
  switch (mode) {
    case 'bypass':
      return allow
    case 'headless':
      if (mutates || ask) return { kind: 'deny', reason: headlessReason, ...(ask && { rule: ask.text }) }
      return allow
    case 'accept-edits':
      return !mutates || edits.includes(call.tool) ? allow : abstained(call)
    case 'default':
    case 'plan':
      return mutates ? abstained(call) : allow
  }
}

/** Where nobody else decides, a person may be asked, and may grant the rule for this very call. */
function abstained(call: Judged): Verdict {
  const rule = exactRule(call)
  return rule === undefined ? { kind: 'abstain' } : { kind: 'abstain', offers: [{ id: rule, text: rule }] }
}
