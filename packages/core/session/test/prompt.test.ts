import { expect, test } from 'vitest'
import { interruptedText, noResultText, summaryText } from '../src/index.ts'

test('what a model reads of interrupted calls and summaries is pinned', () => {
  expect({
    no: interruptedText('no'),
    unknown: interruptedText('unknown'),
    none: noResultText,
    summary: summaryText('SUMMARY'),
  }).toMatchInlineSnapshot(`
    {
      "no": "This call was interrupted before it ran: nothing was done. Call it again if it is still needed.",
      "none": "No result of this call was recorded. Look at the current state before repeating it.",
      "summary": "The conversation so far, summarised:

    SUMMARY",
      "unknown": "This call was interrupted, and it is not known how far it came. Look at the current state before repeating it.",
    }
  `)
})
