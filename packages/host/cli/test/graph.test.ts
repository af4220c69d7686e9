import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Graph } from '@sluice/graph'
import type { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import { calls, place, tool, watchedTerminal } from './harness.ts'

// docs-graphs 5
describe('sluice graph', () => {
  test('graph draws the composition, whose plugins are mounted without effects', async () => {
    let host = ''
    const wraps = {
      name: 'wraps \u001b[2J',
      inject: ['tools', 'world'],
      apply(ctx: Context) {
        host = ctx.world.host.hostname
        ctx.on('tools/execute', (_call, _run, next) => next())
        ctx.effect(() => () => void (host += ' gone'))
      },
    }
    const p = await place({ modules: { wraps }, entries: '- name: wraps\n' })
    const t = watchedTerminal(p.folder)
    expect(await p.sluice(t, 'graph', '--composition', p.composition)).toBe(0)
    expect(t.out).toMatch(/^flowchart TD\n/)
    expect(t.out).toContain('["execute<br/>waterfall tools/execute<br/>wraps [2J<br/>writes tool/started"]')
    expect([t.err, host]).toEqual(['', 'graph gone'])
    expect(t.out).not.toContain('linkStyle')
  })

  test('graph --session shows the way that each recorded call took, as a drawing and as data', async () => {
    const steps = [calls('look'), calls('nowhere'), 'Done.']
    const p = await place({ steps, tools: [tool('look', () => 'seen')] })
    const wanted = ['--composition', p.composition]
    expect(await p.sluice(watchedTerminal(p.folder), 'run', 'go', '--model', 'sim/one', ...wanted)).toBe(3)
    const graph = async (...more: string[]) => {
      const t = watchedTerminal(p.folder)
      expect(await p.sluice(t, 'graph', ...wanted, '--session', 'last', ...more)).toBe(0)
      return t.out
    }
    const chart = await graph()
    expect(chart).toMatch(/s0 -->\|"unknown-tool \(2\), invalid, aborted"\|/)
    expect(chart).toMatch(/way 1<br\/>look \S+: denied"/)
    const data = JSON.parse(await graph('--format', 'json')) as Graph
    expect(data.composition).toBe('test.yml')
    expect(data.calls.map((call) => [call.tool, call.outcome, call.steps.at(-1), call.problem])).toEqual([
      ['look', 'denied', { stage: 'result', outcome: 'recorded' }, undefined],
      ['nowhere', 'unknown-tool', { stage: 'result', outcome: 'recorded' }, undefined],
    ])
    expect(await graph()).toBe(chart)
  })

  test('the calls of a damaged log are drawn as far as it goes, and what is wrong with it is said', async () => {
    const p = await place({ steps: [calls('nowhere'), 'Done.'] })
    const wanted = ['--composition', p.composition]
    await p.sluice(watchedTerminal(p.folder), 'run', 'go', '--model', 'sim/one', ...wanted)
    const sessions = join(p.folder, 'data', 'sluice', 'sessions')
    const log = join(sessions, (await readdir(sessions))[0] ?? '', 'events.jsonl')
    await writeFile(log, (await readFile(log, 'utf8')).replace('Done.', 'Dane.'))
    const t = watchedTerminal(p.folder)
    expect(await p.sluice(t, 'graph', ...wanted, '--session', log)).toBe(1)
    expect(t.err).toMatch(/^line \d+: bad-crc: /)
    expect(t.out).toContain('unknown-tool (1)')
  })

  test('a composition of the working folder is not drawn unless it is asked for, and that is said', async () => {
    const p = await place()
    await writeFile(join(p.folder, 'sluice.yml'), '- name: never\n')
    const t = watchedTerminal(p.folder)
    expect(await p.sluice(t, 'graph')).toBe(0)
    expect(t.err).toContain('note: sluice.yml of the working folder is not used')
    expect(t.out).toContain('permissions')
  })

  test('a composition without tools, and a plugin that cannot be mounted without effects, are refused with a remedy', async () => {
    const broken = { name: 'broken', apply: () => Promise.reject(new Error('no way')) }
    const p = await place({ modules: { broken }, entries: '- name: broken\n' })
    const t = watchedTerminal(p.folder)
    expect(await p.sluice(t, 'graph', '--composition', p.composition)).toBe(1)
    expect(t.err).toMatch(/broken[^]*\(GRAPH_PLUGIN_FAILED\)\n.*it must mount without touching the outside/)
    await writeFile(p.composition, "- name: '@sluice/store-jsonl'\n")
    expect(await p.sluice(t, 'graph', '--composition', p.composition)).toBe(1)
    expect(t.err).toMatch(/provides no tools[^]*\(GRAPH_SERVICE_MISSING\)/)
  })
})
