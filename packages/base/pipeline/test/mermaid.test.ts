import { defineTable, toMermaid } from '@sluice/pipeline'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { small, tableArb } from './tables.ts'

// 1.2
describe('toMermaid', () => {
  test('a table is drawn with its outcomes as solid edges and its detours dotted', () => {
    expect(toMermaid(small)).toBe(
      [
        'flowchart TD',
        '  s0["ask<br/>waterfall x/ask"]',
        '  s1["do"]',
        '  s2["mend"]',
        '  s3["show"]',
        '  finish(["end"])',
        '  s0 -->|"yes"| s1',
        '  s0 -->|"no"| s3',
        '  s0 -.->|"threw, expired, aborted"| s2',
        '  s1 -->|"done"| s3',
        '  s1 -.->|"threw"| s2',
        '  s2 -->|"mended"| s3',
        '  s3 -->|"shown"| finish',
        '',
      ].join('\n'),
    )
  })

  test('what is live is shown inside its stage', () => {
    expect(toMermaid(small, (stage) => (stage === 'do' ? ['retry#4', 'timeout#5'] : []))).toContain(
      '  s1["do<br/>retry#35;4<br/>timeout#35;5"]\n',
    )
  })

  test('a stage names what it writes below who lives in it', () => {
    const table = defineTable({
      name: 'writing',
      start: 'a',
      end: 'end',
      stages: { a: { does: 'A.', outcomes: { one: 'end' }, writes: ['x/done', 'x/seen'] } },
    })
    expect(toMermaid(table, () => ['somebody'])).toContain('  s0["a<br/>somebody<br/>writes x/done, x/seen"]\n')
  })

  test('outcomes with the same target share one edge', () => {
    const table = defineTable({
      name: 'shared',
      start: 'a',
      end: 'end',
      stages: { a: { does: 'A.', outcomes: { one: 'end', two: 'end' } } },
    })
    expect(toMermaid(table)).toContain('  s0 -->|"one, two"| finish\n')
  })

  test('what was taken is drawn thick: its edges, its stages, with what is said of it', () => {
    const chart = toMermaid(small, undefined, (stage, outcome) =>
      ['ask:threw', 'mend:mended'].includes(`${stage}:${outcome}`) ? 'twice' : undefined,
    )
    expect(chart).toContain('  s0 -.->|"threw (twice), expired, aborted"| s2\n')
    expect(chart).toContain('  linkStyle 2,5 stroke-width:4px\n')
    expect(chart).toContain('  class s0,s2,s3 taken\n')
  })

  test('no name can break out of its label or its line', () => {
    const line = /^(flowchart TD| {2}\w+(\["[^"]*"\]|\(\["[^"]*"\]\)| (-->|-\.->)\|"[^"]*"\| \w+))$/
    fc.assert(
      fc.property(tableArb, fc.string(), (table, live) => {
        const lines = toMermaid(table, () => [`${live}"]\n  x --> y %% <b>\`md\` &lt; \u2028 \r`])
          .trimEnd()
          .split('\n')
        for (const one of lines) expect(one).toMatch(line)
      }),
    )
    expect(toMermaid(small, () => ['"a" <b> `c` & #d\ne'])).toContain(
      'do<br/>#quot;a#quot; #lt;b#gt; #96;c#96; #amp; #35;d e"',
    )
  })
})
