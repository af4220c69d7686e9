import * as policy from '@sluice/permissions'
import { decide as decideWith, type Mode, parseRule, type Policy } from '@sluice/permissions'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { policyBench } from '@sluice/testkit/host'

const mount = policyBench.bind(undefined, policy)

const rules = (...texts: string[]) => texts.map((text) => parseRule('test', text))
const policyOf = (
  mode: Mode,
  { allow = [], ask = [], deny = [] }: { allow?: string[]; ask?: string[]; deny?: string[] } = {},
) => ({
  mode,
  edits: ['edit', 'write'],
  allow: rules(...allow),
  ask: rules(...ask),
  deny: rules(...deny),
})
const decide = (policy: Policy, one: Parameters<typeof decideWith>[1]) => decideWith(policy, one, [])
const call = (tool: string, specifier?: string, more: object = {}) => ({
  tool,
  specifier,
  aliases: [],
  annotations: {},
  ...more,
})

describe('rules', () => {
  test('name a tool, or a tool with exactly one specifier', () => {
    const policy = policyOf('default', { allow: ['bash(git status)'], deny: ['write'] })
    expect(decide(policy, call('bash', 'git status'))).toMatchObject({ kind: 'allow', rule: 'bash(git status)' })
    for (const other of ['git', 'git status ', 'git status; rm', 'GIT STATUS', 'git  status', ''])
      expect(decide(policy, call('bash', other)).kind).toBe('abstain')
    expect(decide(policy, call('write', 'a'))).toMatchObject({ kind: 'deny', rule: 'write' })
    expect(decide(policy, call('bash2', 'git status')).kind).toBe('abstain')
  })

  test('know a tool by its familiar names too', () => {
    const policy = policyOf('default', { deny: ['Edit(src/a.ts)'] })
    expect(decide(policy, call('edit_file', 'src/a.ts', { aliases: ['Edit'] })).kind).toBe('deny')
    expect(decide(policy, call('edit_file', 'src/a.ts')).kind).toBe('abstain')
  })

  test('that are patterns, or are no rules, are refused when the policy is mounted, naming list and rule', async () => {
    for (const bad of ['bash(git:*)', 'Edit(src/**)', 'bash()', 'two words', 'bash(', 'bash)x(', '', 'a'.repeat(65)]) {
      expect(() => parseRule('deny', bad)).toThrow(
        expect.objectContaining({
          code: 'PERMISSIONS_RULE_INVALID',
          data: expect.objectContaining({ rule: bad, list: 'deny' }) as unknown,
        }),
      )
      await expect(mount({ deny: [bad] })).rejects.toThrow(/deny/)
    }
    expect(parseRule('allow', ' bash(echo (a) ) ')).toEqual({
      text: 'bash(echo (a) )',
      tool: 'bash',
      specifier: 'echo (a) ',
    })
  })

  test('a rule that restricts some calls of a tool asks when a call does not say which it is', () => {
    const policy = policyOf('default', { allow: ['bash'], deny: ['bash(rm -rf /)'] })
    expect(decide(policy, call('bash'))).toMatchObject({ kind: 'ask', rule: 'bash(rm -rf /)' })
    expect(decide({ ...policy, mode: 'headless' }, call('bash')).kind).toBe('deny')
    expect(decide(policy, call('bash', 'ls')).kind).toBe('allow')
  })

  // BUG-020
  test('deny wins over ask, ask over allow, in every mode', () => {
    const lists = fc.record({ allow: fc.boolean(), ask: fc.boolean(), deny: fc.boolean() })
    const modes = fc.constantFrom<Mode>('default', 'accept-edits', 'plan', 'bypass', 'headless')
    fc.assert(
      fc.property(lists, modes, fc.boolean(), fc.boolean(), (on, mode, readOnly, exact) => {
        const rule = exact ? 'tool(x)' : 'tool'
        const policy = policyOf(mode, {
          allow: on.allow ? [rule] : [],
          ask: on.ask ? [rule] : [],
          deny: on.deny ? [rule] : [],
        })
        const { kind } = decide(policy, call('tool', 'x', { annotations: { readOnly } }))
        if (on.deny || (mode === 'plan' && !readOnly)) expect(kind).toBe('deny')
        else if (on.ask) expect(kind).toBe(mode === 'headless' ? 'deny' : 'ask')
        else if (on.allow) expect(kind).toBe('allow')
        else if (mode === 'headless') expect(kind).toBe(readOnly ? 'allow' : 'deny')
        else expect(kind).toBe(mode === 'bypass' || readOnly ? 'allow' : 'abstain')
      }),
    )
  })
})

describe('modes', () => {
  test('say what happens to calls that no rule covers', () => {
    const table: [Mode, string, string, string][] = [
      ['default', 'allow', 'abstain', 'abstain'],
      ['accept-edits', 'allow', 'allow', 'abstain'],
      ['plan', 'allow', 'deny', 'deny'],
      ['bypass', 'allow', 'allow', 'allow'],
      ['headless', 'allow', 'deny', 'deny'],
    ]
    for (const [mode, reads, edits, others] of table) {
      const kinds = [call('read', 'a', { annotations: { readOnly: true } }), call('edit', 'a'), call('bash', 'a')].map(
        (one) => decide(policyOf(mode), one).kind,
      )
      expect([mode, ...kinds]).toEqual([mode, reads, edits, others])
    }
  })

  test('the composition says which tools edit: an alias that a tool gives itself allows nothing', async () => {
    const disguised = call('delete_all', 'a', { aliases: ['Edit', 'Write', 'MultiEdit', 'edit', 'write'] })
    expect(decide(policyOf('accept-edits'), disguised).kind).toBe('abstain')
    const saidOf = async (config: object) => {
      const bench = await mount({ mode: 'accept-edits', ...config }, { aliases: ['Edit'] }, { otherwise: 'deny' })
      return (await bench.call()).result.outcome.tag
    }
    expect(await saidOf({})).toBe('denied')
    expect(await saidOf({ edits: ['probe'] })).toBe('succeeded')
  })

  // BUG-036
  test('what would ask is denied when nobody can be asked, with a reason for the model', async () => {
    const bench = await mount({ mode: 'headless', ask: ['probe'] })
    const { result } = await bench.call()
    expect(result.outcome).toMatchObject({
      tag: 'denied',
      executed: 'no',
      rule: 'probe',
      reason: 'nobody can be asked in this run, and no rule allows the call',
    })
    expect(bench.probe.runs).toBe(0)
  })

  test('each refusal has its words', async () => {
    const denied = await (await mount({ deny: ['probe'] })).call()
    expect(denied.result.outcome).toMatchObject({ reason: 'a rule denies this call', rule: 'probe' })
    const planned = await (await mount({ mode: 'plan' })).call()
    expect(planned.result.outcome).toMatchObject({ reason: 'the mode is plan: nothing may be changed' })
    await expect(mount({ mode: 'yolo' })).rejects.toThrow()
  })
})

describe('in a composition', () => {
  test('an allow of a rule counts, and a call that no rule covers is left to the others', async () => {
    const bench = await mount(
      { allow: ['probe(a)'] },
      { specifier: ({ path }) => path as string },
      { otherwise: 'deny' },
    )
    expect((await bench.call({ path: 'a' })).result.outcome.tag).toBe('succeeded')
    expect((await bench.call({ path: 'b' })).result.outcome).toMatchObject({ tag: 'denied', by: 'otherwise' })
  })

  // BUG-020
  test('a deny of anybody else stands against a rule that allows', async () => {
    const bench = await mount({ mode: 'bypass', allow: ['probe'] })
    const fiber = await bench.plugin(
      'other',
      (ctx) => void ctx.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'no' })),
    )
    expect((await bench.call()).result.outcome).toMatchObject({ tag: 'denied', reason: 'no' })
    await fiber.dispose()
    await bench.plugin('guard', (ctx) => void ctx.tools.guard('stops', () => 'stopped'))
    expect((await bench.call()).result.outcome).toMatchObject({ tag: 'denied', reason: 'stopped' })
    expect(bench.probe.runs).toBe(0)
  })

  test('reloading it with other rules denies calls meanwhile, and the new rules count afterwards', async () => {
    const bench = await mount({ deny: ['probe'] })
    bench.policy.update({ mode: 'bypass', allow: [], ask: [], deny: [] })
    const meanwhile = (await bench.call()).result.outcome
    await bench.policy.inertia
    expect(meanwhile.tag).toBe('denied')
    expect((await bench.call()).result.outcome.tag).toBe('succeeded')
    await bench.policy.dispose()
    expect((await bench.call()).result.outcome).toMatchObject({ code: 'TOOLS_POLICY_MISSING', by: 'permissions' })
    expect(bench.ctx.tools.live().listeners.get('tools/pre-execute')).toEqual([])
  })
})
