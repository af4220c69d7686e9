import type { AdapterSubject, EndpointScript } from '@sluice/llm/contract'
import type { StreamPart } from '@sluice/llm'
import { adapterCases } from '@sluice/llm/contract'
import { llmErrors } from '@sluice/llm'
import { expect, test } from 'vitest'

/** The least adapter that passes: its endpoint is the script itself. */
function honest(script: EndpointScript): AdapterSubject {
  let hangUp = () => {}
  const hungUp = new Promise<void>((resolve) => (hangUp = resolve))
  return {
    model: 'p/m',
    hungUp,
    adapter: {
      async *stream({ signal }) {
        try {
          if (script.kind === 'refuse') {
            throw llmErrors('LLM_REFUSED', { url: 'u', status: script.status, body: script.message })
          }
          yield* script.parts
          if (script.kind === 'break') throw llmErrors('LLM_BROKEN', { url: 'u', problem: 'reset' })
          if (script.kind === 'silence') {
            await new Promise((_, reject) => {
              if (signal.aborted) reject(signal.reason)
              signal.addEventListener('abort', () => reject(signal.reason))
            })
          }
        } finally {
          hangUp()
        }
      },
    },
  }
}

test.each(adapterCases)('an honest adapter passes: $title', (given) => given.run(honest(given.script)))

test('an adapter that gives calls in pieces, swallows failures or ends twice is caught', async () => {
  const parts: StreamPart[] = [
    { type: 'finish', reason: 'stop' },
    { type: 'finish', reason: 'stop' },
  ]
  const careless = (script: EndpointScript): AdapterSubject => ({
    ...honest(script),
    adapter: {
      async *stream() {
        yield* parts
      },
    },
  })
  const caught: string[] = []
  for (const given of adapterCases) {
    if (given.script.kind === 'silence') continue
    await given.run(careless(given.script)).catch(() => caught.push(given.script.kind))
  }
  expect(caught).toEqual(['answer', 'answer', 'no-end', 'break', 'refuse'])
})
