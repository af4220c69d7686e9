/** Money as whole cents. */

const AMOUNT = /^(-?)(\d+)(?:\.(\d{1,2}))?$/

/** `'12.5'` → 1250. Throws a RangeError for anything that is not an amount with at most two decimals. */
export function parseMoney(text) {
  const match = AMOUNT.exec(text.trim())
  if (!match) throw new RangeError(`not an amount: ${JSON.stringify(text)}`)
  const [, sign, whole, decimals = ''] = match
  const cents = Number(whole) * 100 + Number(decimals.padEnd(2, '0'))
  return sign === '-' ? -cents : cents
}

/** 1250 → `'12.50'`. */
export function formatMoney(cents) {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
