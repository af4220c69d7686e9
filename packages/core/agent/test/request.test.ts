import type { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import { INSTRUCTIONS_BYTES_MAX, INSTRUCTIONS_DEPTH_MAX } from '../src/index.ts'
import { INSTRUCTIONS_HEAD } from '../src/prompt.ts'
import { mount, tool } from './harness.ts'

describe('system prompt', () => {
  test('sections go out in order, and leave with their plugin', async () => {
    const m = await mount(['1', '2'])
    m.ctx.agents.section('last', 20, 'Be kind.')
    m.ctx.agents.section('where', 10, (session) => `You are in ${session.cwd}.`)
    const fiber = await m.ctx.plugin({
      name: 'first',
      inject: ['agents'],
      apply: (own: Context) => void own.agents.section('first', 0, 'You are an agent.'),
    })
    await m.agent.send('a')
    await fiber.dispose()
    await m.agent.send('b')
    expect(m.model.requests.map(({ system }) => system)).toEqual([
      'You are an agent.\n\nYou are in /proj.\n\nBe kind.',
      'You are in /proj.\n\nBe kind.',
    ])
  })

  test('a section name is taken once', async () => {
    const m = await mount([])
    const dispose = m.ctx.agents.section('rules', 0, 'a')
    expect(() => m.ctx.agents.section('rules', 1, 'b')).toThrow(
      expect.objectContaining({ code: 'AGENT_SECTION_TAKEN' }),
    )
    dispose()
    m.ctx.agents.section('rules', 1, 'b')
  })

  test('a section that fails keeps the request from going out and names its plugin', async () => {
    const m = await mount([])
    await m.ctx.plugin({
      name: 'careless',
      inject: ['agents'],
      apply(own: Context) {
        own.agents.section('policy', 0, () => {
          throw new Error('no file')
        })
      },
    })
    const result = await m.agent.send('hi')
    expect(result).toMatchObject({ reason: 'error', code: 'AGENT_SECTION_FAILED' })
    expect(result.detail).toContain('careless')
    expect(m.model.requests).toHaveLength(0)
  })
})

describe('request/changed', () => {
  test('system prompt and tool list are recorded once, and again only when they change', async () => {
    const m = await mount([{ calls: [{ name: 'one' }] }, { calls: [{ name: 'one' }] }, 'x', 'y'], {
      tools: [tool('one', () => 1)],
    })
    const dispose = m.ctx.agents.section('rules', 0, 'Be brief.')
    await m.agent.send('a')
    expect(m.events('request/changed')).toHaveLength(1)
    m.ctx.tools.register(tool('two', () => 2))
    await m.agent.send('b')
    dispose()
    expect(m.events('request/changed').map(({ data }) => data.toolNames)).toEqual([['one'], ['one', 'two']])
    const { system, tools } = m.events('request/changed')[1]!.data
    expect(new TextDecoder().decode(await m.session.getBlob(system))).toBe('Be brief.')
    const specs = JSON.parse(new TextDecoder().decode(await m.session.getBlob(tools))) as { name: string }[]
    expect(specs.map(({ name }) => name)).toEqual(['one', 'two'])
    expect(m.model.requests.at(-1)?.tools.map(({ name }) => name)).toEqual(['one', 'two'])
  })
})

describe('AGENTS.md', () => {
  const system = async (files: Record<string, string | null | { link: string }>, cwd: string) => {
    const m = await mount(['ok'], { files: files as never, cwd })
    await m.agent.send('hi')
    return m.model.requests[0]?.system ?? ''
  }

  test('files from the root of the project to the working folder become a section, the nearest last', async () => {
    const files = {
      '/AGENTS.md': 'not of this project',
      '/proj/app/.git/HEAD': 'ref',
      '/proj/app/AGENTS.md': 'Use tabs.\n',
      '/proj/app/lib/deep/AGENTS.md': 'Use spaces.',
    }
    expect(await system(files, '/proj/app/lib/deep')).toBe(
      `${INSTRUCTIONS_HEAD}\n\n# /proj/app/AGENTS.md\n\nUse tabs.\n\n# /proj/app/lib/deep/AGENTS.md\n\nUse spaces.`,
    )
  })

  test('outside a project only the working folder speaks', async () => {
    expect(await system({ '/proj/AGENTS.md': 'parent', '/proj/x/AGENTS.md': 'own' }, '/proj/x')).toBe(
      `${INSTRUCTIONS_HEAD}\n\n# /proj/x/AGENTS.md\n\nown`,
    )
  })

  test('a file that a link leads out of the project to is left out', async () => {
    const files = {
      '/proj/secret': 'token',
      '/proj/app/.git/HEAD': 'ref',
      '/proj/app/AGENTS.md': { link: '/proj/secret' },
    }
    expect(await system(files, '/proj/app')).toBe('')
  })

  test('a huge file is cut and says so', async () => {
    const text = await system({ '/proj/AGENTS.md': 'x'.repeat(INSTRUCTIONS_BYTES_MAX + 10) }, '/proj')
    expect(text.length).toBeLessThan(INSTRUCTIONS_BYTES_MAX + 400)
    expect(text).toContain(`[cut after ${INSTRUCTIONS_BYTES_MAX} bytes; read the file for the rest]`)
  })

  test('a project root that is too far above is not looked for', async () => {
    const cwd = `/proj${'/d'.repeat(INSTRUCTIONS_DEPTH_MAX + 1)}`
    expect(
      await system({ '/proj/.git/HEAD': 'ref', '/proj/AGENTS.md': 'far', [`${cwd}/AGENTS.md`]: 'near' }, cwd),
    ).not.toContain('far')
  })
})
