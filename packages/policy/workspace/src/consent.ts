/** Owns what a person agrees to when asked about one change. */
import type { Target } from '@sluice/fs'

/** The rule an ask carries: it names the real path, so that consent to one file is none to another. */
export function consentRule(target: Pick<Target, 'path'>): string {
  return `workspace: change ${target.path}`
}
