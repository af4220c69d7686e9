/** Owns the stand-in for `vitest` that mutated runs give to tests: it collects them, so that one process can run them often. */
import { afterEach, expect, expectTypeOf, vi } from 'vitest'

export { expect, expectTypeOf, vi }

export const collected = []
let titles = []
let ends = []

function define(title, body) {
  collected.push({ title: [...titles, title].join(' > '), body })
}

function each(rows) {
  return (title, body) => {
    for (const [index, row] of rows.entries()) {
      const args = Array.isArray(row) ? row : [row]
      define(`${title} #${index}`, () => body(...args))
    }
  }
}

export const it = Object.assign(define, { each })
export const test = Object.assign((title, body) => define(title, body), { each })
export const describe = (title, body) => {
  titles = [...titles, title]
  body()
  titles = titles.slice(0, -1)
}
export const onTestFinished = (end) => void ends.push(end)

/** Runs one collected test to its end, with what it asked to be done afterwards. */
export async function play(body) {
  ends = []
  try {
    await body()
    for (const end of ends.toReversed()) await end()
  } finally {
    vi.restoreAllMocks()
  }
}

/** Failed assertions of earlier mutants must not fail the one test that vitest knows of. */
export function forget() {
  afterEach(({ task }) => {
    task.promises = []
  })
}
