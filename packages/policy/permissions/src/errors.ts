/** Owns the failures of reading rules. */
import { defineErrors } from '@sluice/base'

export const permissionsErrors = defineErrors({
  PERMISSIONS_RULE_INVALID: {
    when: 'a rule of the configuration cannot be read',
    message: (d: { rule: string; list: string; problem: string }) =>
      `${d.list}: ${JSON.stringify(d.rule)}: ${d.problem}`,
    remedy: 'Write `tool`, or `tool(specifier)` with the exact specifier; patterns are not supported.',
  },
})
