import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { graphOf, mermaidOf } from '@sluice/graph'
import { parseHTML } from 'linkedom'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pagesOf } from '../src/index.ts'
import { bootWith, part } from '@sluice/testkit/composition'

const reference = fileURLToPath(new URL('../../../../docs/reference/', import.meta.url))

function blocksOf(text: string): string[] {
  return [...text.matchAll(/^```mermaid\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? '')
}

describe('every Mermaid block', () => {
  let parse: (text: string) => Promise<unknown>

  beforeAll(async () => {
    // Without a document the parser refuses valid diagrams.
    const { window, document } = parseHTML('<!doctype html><html><body></body></html>')
    Object.assign(globalThis, { window, document })
    const { default: mermaid } = await import('mermaid')
    parse = (text) => mermaid.parse(text)
  }, 60_000)

  afterAll(() => {
    for (const name of ['window', 'document']) Reflect.deleteProperty(globalThis, name)
  })

  it('of a composition is accepted by the real parser, whatever its plugins are called', async () => {
    const odd = 'say "hi" <b> & #35; | [end] `x` -->'
    const booted = await bootWith({
      odd: part(odd, (ctx) => ctx.on('tools/execute', (_call, _run, next) => next())),
      guard: part('guard', (ctx) => ctx.tools.guard(odd, () => undefined)),
    })
    const blocks = pagesOf(booted).flatMap((page) => blocksOf(page.text))
    await booted.dispose()
    expect(blocks.length).toBeGreaterThan(1)
    for (const block of blocks) await expect(parse(block)).resolves.toMatchObject({ diagramType: 'flowchart-v2' })
  })

  it('of a graph with recorded calls is accepted by the real parser, whatever they are called', async () => {
    const booted = await bootWith({})
    const steps = [
      { stage: 'admit', outcome: 'unknown-tool' },
      { stage: 'result', outcome: 'recorded' },
    ]
    const call = { callId: 'end ]"] `x` %%', tool: '<b>{"a": 1}</b>', steps }
    const chart = mermaidOf(graphOf(booted, [call, { ...call, problem: 'step 3: "end" | --> #35;' }]))
    await booted.dispose()
    expect(chart).toContain('linkStyle')
    await expect(parse(chart)).resolves.toMatchObject({ diagramType: 'flowchart-v2' })
  })

  it('of the printed reference is accepted by the real parser', async () => {
    const pages = readdirSync(reference).map((name) => readFileSync(`${reference}${name}`, 'utf8'))
    const blocks = pages.flatMap(blocksOf)
    expect(blocks.length).toBeGreaterThan(1)
    for (const block of blocks) await expect(parse(block)).resolves.toBeTruthy()
  })

  it('that is broken is refused, so the parser does look', async () => {
    await expect(parse('flowchart TD\n  a[ -->')).rejects.toThrow()
  })
})
