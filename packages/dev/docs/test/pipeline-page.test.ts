import { readdirSync, readFileSync } from 'node:fs'
import { defineTable, type StageRow } from '@sluice/pipeline'
import { batchTable, callTable, forAgent } from '@sluice/tools'
import type { Context } from 'cordis'
import { describe, expect, it } from 'vitest'
import { differences, pagesOf, pipelinePage } from '../src/index.ts'
import { type Body, bootWith, part } from '@sluice/testkit/composition'

async function printed(extra: Record<string, unknown>): Promise<string> {
  const booted = await bootWith(extra)
  const { text } = pipelinePage(booted)
  await booted.dispose()
  return text
}

function section(text: string, stage: string): string {
  return text.split(`### ${stage}\n`)[1]?.split('\n### ')[0] ?? ''
}

const allow = () => ({ kind: 'allow' as const })

describe('the page of the pipeline', () => {
  it('shows each stage of the table, its ways out, and the ways out on failure dotted', async () => {
    const text = await printed({})
    for (const [stage, row] of Object.entries(callTable.stages)) {
      expect(text).toContain(`### ${stage}\n\n${row.does}`)
      for (const outcome of Object.keys(row.outcomes)) expect(section(text, stage)).toContain(`${outcome} → `)
    }
    expect(text).toMatch(/-\.->\|"threw, expired, aborted"\|/)
    expect(section(text, 'prepare')).toContain('| On failure | threw → `normalize`')
  })

  it('shows the listeners of each stage in dispatch order, with plugin, source, order and scope', async () => {
    const text = await printed({
      late: part('late', (ctx) => ctx.on('tools/pre-execute', allow, { order: 5 })),
      './mine.ts': part('early', (ctx) => ctx.on('tools/pre-execute', allow, { order: -5 })),
      narrow: part('narrow', (ctx) => forAgent(ctx, 'main/reviewer').on('tools/pre-execute', allow)),
    })
    expect(section(text, 'pre-execute')).toContain(
      '| Takes part now | early (`./mine.ts`, order -5), narrow (only main/reviewer), late (order 5) |',
    )
    expect(text).toContain('early (order -5)<br/>narrow (only main/reviewer)<br/>late (order 5)')
  })

  it('shows guards, and whoever has registered with a service that a stage asks', async () => {
    const text = await printed({
      lock: part('lock', (ctx) => ctx.tools.guard('never', () => 'no')),
      approval: {
        name: 'approval',
        provide: 'approval',
        apply: (ctx: Context) => {
          ctx.provide('approval', { ask: async () => ({ decision: 'unavailable', by: 'nobody' }) } as never)
        },
      },
      person: part('person', (ctx) => void ctx.effect(() => () => {}, 'ctx.approval.answerer("terminal")')),
    })
    expect(section(text, 'screen')).toContain('| Takes part now | never of lock |')
    expect(section(text, 'guards')).toContain('| Takes part now | never of lock |')
    expect(section(text, 'approval')).toContain('| Takes part now | answerer terminal of person |')
    expect(section(text, 'approval')).toContain('| Provided by | approval |')
  })

  it('is the same, byte for byte, for an equal composition', async () => {
    const parts = (names: string[]) =>
      Object.fromEntries(names.map((name) => [name, part(name, (ctx) => ctx.on('tools/pre-execute', allow))]))
    const all = async (names: string[]) => {
      const booted = await bootWith(parts(names))
      const pages = pagesOf(booted)
      await booted.dispose()
      return pages
    }
    const first = await all(['a', 'b'])
    expect(await all(['a', 'b'])).toEqual(first)
    expect(await all(['b', 'a'])).toEqual(first)
    for (const { text } of first) expect(text).not.toMatch(/\w#\d/)
  })

  it.each<[string, Body]>([
    ['a listener', (ctx) => ctx.on('tools/prepare', (call) => call.args)],
    ['a wrapper', (ctx) => ctx.on('tools/execute', (_call, _run, next) => next())],
    ['an observer', (ctx) => ctx.on('tools/result', () => {})],
    ['a guard', (ctx) => ctx.tools.guard('new', () => undefined)],
  ])('differs from the one on disk when %s is added, and no more when it is gone', async (_what, body) => {
    const before = await bootWith({})
    const present = new Map(pagesOf(before).map((page) => [page.name, page.text]))
    await before.dispose()

    const after = await bootWith({ added: part('added', body) })
    const changes = differences(pagesOf(after), present)
    await after.dispose()
    expect(changes.map(({ name, kind }) => [name, kind])).toContainEqual(['tool-execution-pipeline.md', 'different'])
    const changed = changes.find(({ name }) => name === 'tool-execution-pipeline.md')
    expect(changed?.diff).toMatch(/^\+.*added/m)

    const again = await bootWith({})
    expect(differences(pagesOf(again), present)).toEqual([])
    await again.dispose()
  })

  it('follows the table: a stage that is added to it is printed', async () => {
    const booted = await bootWith({})
    const longer = defineTable({
      name: 'longer',
      start: 'weigh',
      end: 'end',
      stages: { weigh: { does: 'Weighs the call.', outcomes: { light: 'end', heavy: 'end' } } },
    })
    const { text } = pipelinePage(booted, longer, batchTable)
    await booted.dispose()
    expect(section(text, 'weigh')).toContain('| Leads to | light → `end`, heavy → `end` |')
    expect(text).toContain('s0 -->|"light, heavy"| finish')
  })

  it('differs from the one on disk when the table has one stage more, and no more when it has not', async () => {
    const booted = await bootWith({})
    const present = new Map(pagesOf(booted).map((page) => [page.name, page.text]))
    const { finalize } = callTable.stages
    const audit: StageRow = { does: 'Notes it.', outcomes: { noted: 'result' } }
    const stages = { ...callTable.stages, audit, finalize: { ...finalize, outcomes: { finalized: 'audit' } } }
    const changes = differences(pagesOf(booted, { stages: { ...callTable, stages } }), present)
    expect(changes.map(({ name, kind }) => [name, kind])).toEqual([['tool-execution-pipeline.md', 'different']])
    expect(changes[0]?.diff).toContain('+### audit')
    expect(differences(pagesOf(booted), present)).toEqual([])
    await booted.dispose()
  })

  it('is printed by code that names no stage, event, plugin or tool', async () => {
    const folders = ['../src/', '../../../core/graph/src/'].map((path) => new URL(path, import.meta.url))
    const sources = folders.flatMap((folder) =>
      readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8')),
    )
    const literals = sources.flatMap((text) => [...text.matchAll(/'([^'\n]*)'/g)].map((match) => match[1] ?? ''))
    const kinds = new Set(Object.values(callTable.stages).flatMap((row) => ('opened' in row ? [row.opened.kind] : [])))
    const stages = Object.keys(callTable.stages).filter((stage) => !kinds.has(stage as never))
    const events = Object.values(callTable.stages).flatMap((row) => ('opened' in row ? [row.opened.name] : []))
    expect(literals.filter((literal) => [...stages, ...events].includes(literal))).toEqual([])
  })
})

describe('comparing', () => {
  it('reports a missing page, a changed one and one that nobody prints any more', () => {
    const pages = [
      { name: 'a.md', text: 'a\n' },
      { name: 'b.md', text: 'b\n' },
    ]
    const present = new Map([
      ['b.md', 'x\n'],
      ['old.md', 'old\n'],
    ])
    const found = differences(pages, present)
    expect(found.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
      'missing a.md',
      'different b.md',
      'orphaned old.md',
    ])
    expect(found[1]?.diff).toContain('-x\n+b\n')
  })
})
