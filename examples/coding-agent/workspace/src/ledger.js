import { parseMoney } from './money.js'
import { split } from './split.js'

/** Expenses of a group, what each person is up or down, and the payments that even it out. */
export class Ledger {
  #balances = new Map()

  /** Records that `payer` paid `amount` for the people in `shares` (name → weight). */
  add({ payer, amount, shares }) {
    const cents = parseMoney(amount)
    const names = Object.keys(shares)
    const parts = split(cents, Object.values(shares))
    this.#change(payer, cents)
    for (const [index, name] of names.entries()) this.#change(name, -parts[index])
  }

  /** Cents that each person is up (positive) or down. They add up to zero. */
  balances() {
    return Object.fromEntries(this.#balances)
  }

  /** Payments that even everything out: the largest debt goes to the largest credit first. */
  settle() {
    const open = [...this.#balances].map(([name, cents]) => ({ name, cents }))
    const payments = []
    for (;;) {
      open.sort((a, b) => b.cents - a.cents || (a.name < b.name ? -1 : 1))
      const creditor = open[0]
      const debtor = open.at(-1)
      if (!creditor || creditor.cents <= 0) return payments
      const cents = Math.min(creditor.cents, -debtor.cents)
      creditor.cents -= cents
      debtor.cents += cents
      payments.push({ from: debtor.name, to: creditor.name, cents })
    }
  }

  #change(name, cents) {
    this.#balances.set(name, (this.#balances.get(name) ?? 0) + cents)
  }
}
