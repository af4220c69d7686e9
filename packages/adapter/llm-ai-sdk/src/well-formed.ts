/** Owns the last look at a request body: no half characters leave, wherever they came from. */

/** The same value where every string is well-formed; copies only what changes. */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const copy = value.map(wellFormed)
    return copy.every((item, index) => item === value[index]) ? value : copy
  }
  const entries = Object.entries(value)
  const copy = entries.map(([key, item]) => [key.toWellFormed(), wellFormed(item)] as const)
  const same = copy.every(([key, item], index) => key === entries[index]?.[0] && item === entries[index]?.[1])
  return same ? value : Object.fromEntries(copy)
}
