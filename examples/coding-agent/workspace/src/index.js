export { Ledger } from './ledger.js'
export { formatMoney, parseMoney } from './money.js'
export { split } from './split.js'
