/** Divides an amount by weights without losing a cent. */

/**
 * Splits `cents` in proportion to `weights`. The parts add up to `cents`; a negative amount (a refund) is split like
 * the positive one.
 */
export function split(cents, weights) {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (!(total > 0) || weights.some((weight) => weight < 0)) throw new RangeError('weights must be positive')
  if (cents < 0) return split(-cents, weights).map((part) => 0 - part)

  const parts = weights.map((weight, index) => {
    const exact = (cents * weight) / total
    const floor = Math.floor(exact)
    return { index, floor, lost: exact - floor }
  })
  const leftOver = cents - parts.reduce((sum, part) => sum + part.floor, 0)

  const shares = parts.map((part) => part.floor)
  const byLoss = parts.toSorted((a, b) => a.lost - b.lost || a.index - b.index)
  for (const { index } of byLoss.slice(0, leftOver)) shares[index] += 1
  return shares
}
