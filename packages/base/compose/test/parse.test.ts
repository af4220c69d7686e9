import { type SluiceError, isSluiceError } from '@sluice/base'
import { describe, expect, it } from 'vitest'
import { parseComposition } from '../src/index.ts'

const parse = (text: string) => parseComposition('/app/sluice.yml', text)

function refusal(text: string): SluiceError {
  try {
    parse(text)
  } catch (error) {
    if (isSluiceError(error)) return error
    throw error
  }
  throw new Error('it was accepted')
}

describe('a composition file', () => {
  it('is a list of entries with a name and, where given, id, config and disabled', () => {
    const text = [
      '# a comment',
      "- name: '@sluice/session'",
      '- id: mine',
      '  name: ./my.ts',
      '  config: { a: [1] }',
      '  disabled: true',
    ]
    expect(parse(text.join('\n'))).toEqual({
      file: '/app/sluice.yml',
      entries: [
        { id: '@sluice/session', name: '@sluice/session', config: undefined, disabled: false, line: 2 },
        { id: 'mine', name: './my.ts', config: { a: [1] }, disabled: true, line: 3 },
      ],
    })
  })

  it('may use the same plugin twice under two ids', () => {
    expect(parse('- name: a\n- { name: a, id: b }').entries.map((entry) => entry.id)).toEqual(['a', 'b'])
  })

  it('that is broken YAML is refused with file, line and column', () => {
    const error = refusal('- name: a\n- name: [b\n- name: c\n')
    expect(error.code).toBe('COMPOSE_YAML')
    expect(error.message).toMatch(/^\/app\/sluice\.yml:3:1: /)
    expect(refusal('- name: a\n\tconfig: 1').message).toContain('/app/sluice.yml:2:')
  })

  it('with a key written twice, a tag or a second document is refused as YAML', () => {
    for (const text of [
      '- name: a\n  name: b',
      '- name: a\n  config: { f: !!js process.exit() }',
      '- name: a\n---\n- name: b',
    ]) {
      expect(refusal(text).code).toBe('COMPOSE_YAML')
    }
  })

  it.each([
    ['', 1, 'is a list of entries'],
    ['name: a', 1, 'is a list of entries'],
    ['- name: a\n- b', 2, 'entry 2 is not a mapping'],
    ['- name: a\n-', 2, 'entry 2 is not a mapping'],
    ['- id: a', 1, 'entry 1 has no name'],
    ['- name: a\n-\n  name: 7', 3, 'entry 2 has a name that is not a text'],
    ["- name: ''", 1, 'a name that is not a text'],
    ['- name: a\n  conifg: {}', 2, 'unknown key conifg; an entry has id, name, config, disabled'],
    ['- name: a\n  disabled: sometimes', 2, 'disabled is true or false'],
    ['- name: a\n  config: fast', 2, 'config is a mapping'],
    ['- name: a\n  config:\n    limit: .nan', 3, 'config.limit: NaN'],
    ['- name: a\n  config: { x: { __jsExpr: "1" } }', 2, 'may not hold the key __jsExpr'],
    ['- name: a\n\n- name: a', 3, 'has the id a of line 1'],
  ])('of the wrong shape is refused with the entry and the line: %j', (text, line, problem) => {
    const error = refusal(text)
    expect(error.code).toBe('COMPOSE_SHAPE')
    expect(error.data).toMatchObject({ file: '/app/sluice.yml', line })
    expect(error.message).toContain(problem)
    expect(error.remedy).toContain('list of entries')
  })

  it('that multiplies itself through aliases is refused', () => {
    const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 10; i++)
      bomb.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      )
    const error = refusal(['- name: a', '  config:', ...bomb.map((line) => `    ${line}`)].join('\n'))
    expect(error.code).toBe('COMPOSE_SHAPE')
    expect(error.message).toContain('alias')
  })
})
