/** Owns rules: `tool`, or `tool(specifier)` for exactly that specifier. */
import type { Call } from '@sluice/tools'
import { permissionsErrors } from './errors.ts'

export interface Rule {
  readonly text: string
  readonly tool: string
  /** Compared as a whole; `undefined` covers every call of the tool. */
  readonly specifier: string | undefined
}

/** @throws PERMISSIONS_RULE_INVALID */
export function parseRule(list: string, text: string): Rule {
  const bad = (problem: string) => permissionsErrors('PERMISSIONS_RULE_INVALID', { rule: text, list, problem })
  const match = /^([A-Za-z0-9_-]{1,64})(?:\(([\s\S]*)\))?$/.exec(text.trim())
  if (!match) throw bad('it is no rule')
  const [, tool = '', specifier] = match
  if (specifier === '') throw bad('the specifier is empty')
  if (specifier !== undefined && !isExact(specifier)) throw bad('a specifier with * looks like a pattern')
  return { text: text.trim(), tool, specifier }
}

/** False for what would be taken for a pattern: compared as text it would never match, and a deny would be silent. */
export function isExact(specifier: string): boolean {
  return specifier !== '' && !specifier.includes('*')
}

/** A rule names a tool by its name or by one of its aliases. */
export function names(rule: Rule, call: Pick<Call, 'tool' | 'aliases'>): boolean {
  return rule.tool === call.tool || call.aliases.includes(rule.tool)
}

export function covers(rule: Rule, call: Pick<Call, 'tool' | 'aliases' | 'specifier'>): boolean {
  if (!names(rule, call)) return false
  return rule.specifier === undefined || rule.specifier === call.specifier
}
