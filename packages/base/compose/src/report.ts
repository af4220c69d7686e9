/** Owns the text of a diagnosis: one screen, what to mend first on top. */
import type { Diagnosis, MissingService, PluginState } from './types.ts'

/** Lines of a report; what does not fit is counted. */
export const REPORT_LINES_MAX = 40
/** Characters of one line. */
const LINE_CHARS_MAX = 200

const states: Readonly<Record<PluginState, string>> = {
  failed: 'which failed',
  pending: 'which is waiting itself',
  loading: 'which is still loading',
  unloading: 'which is still unloading',
  disposed: 'which is gone',
  active: 'which is mounted but has not given it to this plugin',
}

function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

function headline(diagnosis: Diagnosis): string {
  const { failed, pending, unsettled } = diagnosis
  const parts = [
    failed.length > 0 ? `${plural(failed.length, 'plugin', 'plugins')} failed` : '',
    pending.length > 0 ? `${plural(pending.length, 'plugin is', 'plugins are')} waiting` : '',
    unsettled.length > 0 ? `${plural(unsettled.length, 'plugin has', 'plugins have')} not settled in time` : '',
  ]
  return parts.filter((part) => part !== '').join(', ') || 'every plugin is mounted'
}

function missingLine({ service, providers }: MissingService): string {
  const from = providers.map(({ plugin, why }) => `from ${plugin}, ${states[why]}`).join('; ')
  return `needs ${service}${from === '' ? ', which no plugin of the composition provides' : ` ${from}`}`
}

/** `diagnosis` in words, at most {@link REPORT_LINES_MAX} lines. */
export function reportOf(diagnosis: Diagnosis): string {
  const lines = [headline(diagnosis)]
  for (const { plugin, line, problem, dependents } of diagnosis.failed) {
    const [first, ...more] = problem.split('\n')
    lines.push(`failed   ${plugin}${line === undefined || line === 0 ? '' : ` (line ${line})`}: ${first}`)
    lines.push(...more.map((text) => `         ${text}`))
    if (dependents.length > 0) lines.push(`         waiting for it: ${dependents.join(', ')}`)
  }
  for (const { plugin, missing } of diagnosis.pending) {
    const [first, ...more] = missing.map(missingLine)
    lines.push(`waiting  ${plugin} ${first ?? 'for a service that is there but not ready'}`)
    lines.push(...more.map((text) => `         ${text}`))
  }
  for (const plugin of diagnosis.unsettled) lines.push(`loading  ${plugin}`)
  for (const cycle of diagnosis.cycles) lines.push(`circle   ${cycle.join(' → ')}`)
  const shown = lines.map((line) => (line.length > LINE_CHARS_MAX ? `${line.slice(0, LINE_CHARS_MAX - 1)}…` : line))
  if (shown.length <= REPORT_LINES_MAX) return shown.join('\n')
  const kept = shown.slice(0, REPORT_LINES_MAX - 1)
  return [...kept, `and ${shown.length - kept.length} more lines`].join('\n')
}
