/** Owns how moments and spans of time are written and read. */

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
/** A hundred years: nothing recorded is older. */
const SPAN_MAX_MS = 36_525 * unitMs.d

/** Milliseconds of `30d`, `12h`, `2w`, `90m`; `undefined` for anything else. */
export function spanMs(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d*)([mhdw])$/.exec(text) ?? []
  if (count === undefined) return undefined
  const ms = Number(count) * unitMs[unit as keyof typeof unitMs]
  return ms <= SPAN_MAX_MS ? ms : undefined
}

/** `2026-01-31 09:30`, in UTC; a moment that no calendar has is a question mark. */
export function momentText(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? '?' : date.toISOString().slice(0, 16).replace('T', ' ')
}
