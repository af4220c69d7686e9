import type { TurnResult } from '@sluice/agent'
import type { Question } from '@sluice/approval'
import { defineErrors } from '@sluice/base'
import type { Card, Outcome } from '@sluice/session'
import { describe, expect, test } from 'vitest'
import { terminalAnswerer } from '../src/ask.ts'
import { CARD_LINES_MAX, durationOf, pendingText, settledText } from '../src/card-text.ts'
import { exitCodeOf } from '../src/exit-code.ts'
import { ERROR_LINES_MAX, formatError } from '../src/format-error.ts'
import { cut, pluginText, printable, printableJson, printableLine } from '../src/printable.ts'
import { environmentText, SYSTEM_PROMPT } from '../src/prompt.ts'
import { watchedTerminal } from './harness.ts'

const ok: Outcome = { tag: 'succeeded', executed: 'yes' }
const settled = (card: Card, outcome: Outcome = ok, text = '') =>
  settledText({ callId: 'c1', tool: 't', outcome, content: [{ type: 'text', text }], card, durationMs: 12 })

describe('cards', () => {
  test('each kind of card has a line and shows what is worth seeing', () => {
    const cards: [Card, string][] = [
      [
        { v: 1, kind: 'terminal', title: 'bash', command: 'ls', output: 'a\n', exitCode: 1 },
        '✔ bash $ ls  (exit 1, 12 ms)\n    a',
      ],
      [
        { v: 1, kind: 'terminal', title: 'bash', command: 'ls', exitCode: null },
        '✔ bash $ ls  (exit by signal, 12 ms)',
      ],
      [{ v: 1, kind: 'diff', title: 'edit a', path: 'a', diff: '-x\n+y' }, '✔ edit a  (12 ms)\n    -x\n    +y'],
      [
        { v: 1, kind: 'search', title: 'grep x', query: 'x', hits: 2, text: 'a:1' },
        '✔ grep x  (2 hits, 12 ms)\n    a:1',
      ],
      [{ v: 1, kind: 'read', title: 'read a', path: 'a', lines: '1-9' }, '✔ read a  (lines 1-9, 12 ms)'],
      [{ v: 1, kind: 'web', title: 'get x', url: 'http://x' }, '✔ get x  (12 ms)'],
      [
        {
          v: 1,
          kind: 'todo',
          title: 'todo',
          items: [
            { text: 'a', status: 'done' },
            { text: 'b', status: 'doing' },
            { text: 'c', status: 'pending' },
          ],
        },
        '✔ todo  (12 ms)\n    ☑ a\n    ◐ b\n    ☐ c',
      ],
    ]
    for (const [card, text] of cards) expect(settled(card)).toBe(text)
    expect(pendingText({ v: 1, kind: 'generic', title: 'a\nb' })).toBe('▸ a b')
  })

  test('a plugin is named to people without the number of its mount', async () => {
    const card: Card = { v: 1, kind: 'generic', title: 'edit' }
    const by = 'house-rules#23 (guard lockfiles)'
    expect(settled(card, { tag: 'denied', executed: 'no', stage: 'guards', by, reason: 'no' })).toContain(
      'denied by house-rules (guard lockfiles)',
    )
    const t = watchedTerminal('/', { interactive: true, lines: ['n'] })
    const { signal } = new AbortController()
    const asks = [{ by: 'permissions#7', reason: 'no rule' }]
    await terminalAnswerer(t)({ callId: 'c', sessionId: 's', tool: 'edit', text: 'Allow?', asks, card, signal })
    expect(t.out).toContain('\n  permissions: no rule\n')
    expect(['c#', 'c#sharp', 'room#12', 'room#gone', 'a#1 b#2'].map(pluginText)).toEqual([
      'c#',
      'c#sharp',
      'room',
      'room',
      'a b#2',
    ])
  })

  test('a call that did not succeed says how it ended and why', () => {
    const card: Card = { v: 1, kind: 'generic', title: 'do it' }
    const denied: Outcome = { tag: 'denied', executed: 'no', stage: 'guards', by: 'workspace', reason: 'outside' }
    expect(settled(card, denied)).toBe('⊘ do it  (denied by workspace, 12 ms)\n    outside')
    expect(settled(card, { tag: 'failed', executed: 'yes', code: 'X_Y', message: 'broke' })).toBe(
      '✘ do it  (failed X_Y, 12 ms)\n    broke',
    )
    expect(settled(card, { tag: 'timed-out', executed: 'unknown', reason: 'slow' }, 'too slow')).toBe(
      '✘ do it  (timed-out, 12 ms)\n    too slow',
    )
    const late = { ...ok, late: true } as Outcome
    expect(settled(card, late)).toBe('✔ do it  (after the abort, 12 ms)')
    const command: Card = { v: 1, kind: 'terminal', title: 'bash', command: 'sleep 9', output: '', exitCode: null }
    expect(settled(command, late)).toBe('✔ bash $ sleep 9  (exit by signal, after the abort, 12 ms)')
  })

  test('a long result is cut in its middle and says how much is missing', () => {
    const text = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n')
    const lines = settled({ v: 1, kind: 'generic', title: 'x', text }).split('\n')
    expect(lines).toHaveLength(CARD_LINES_MAX + 2)
    expect(lines).toContain(`    … ${100 - CARD_LINES_MAX} lines …`)
    expect(lines.at(-1)).toBe('    line 99')
  })

  test('durations are short', () => {
    expect([durationOf(0.4), durationOf(999), durationOf(1234)]).toEqual(['0 ms', '999 ms', '1.2 s'])
  })
})

describe('foreign text', () => {
  test('control characters and marks that reorder text are written out', () => {
    expect(printable('a\u001b[2Jb\r\nc\td\u202ee\u0085')).toBe('a\\u{1b}[2Jb\nc\td\\u{202e}e\\u{85}')
    expect(printableLine(' a\n b ', 80)).toBe('a b')
  })

  test('JSON keeps what it says and holds no character that a terminal obeys', () => {
    const value = { 'k\u009b': ['a\u001b[2J\u202e\u2028', 'é😀', null] }
    const text = printableJson(value)
    expect(text).toBe('{"k\\u009b":["a\\u001b[2J\\u202e\\u2028","é😀",null]}')
    expect(JSON.parse(text)).toEqual(value)
  })

  test('a cut never leaves half a character', () => {
    expect(cut('ab😀cd', 4)).toBe('ab…')
    expect(cut('abcd', 4)).toBe('abcd')
  })
})

describe('errors', () => {
  const errors = defineErrors({
    SHOW_TEST: { when: 'x', message: (d: { n: number }) => 'x\n'.repeat(d.n), remedy: 'Do this.' },
  })

  test('what an error or a cause has said is not said again', () => {
    const disk = new Error('the disk is full')
    const wrapped = new Error('the disk is full', { cause: disk })
    expect(formatError(errors('SHOW_TEST', { n: 1 }, { cause: wrapped }))).toBe(
      'error: x\n (SHOW_TEST)\n  because: the disk is full\n  → Do this.\n',
    )
  })

  test('a typed error shows message, code, cause and remedy on one screen', () => {
    const text = formatError(errors('SHOW_TEST', { n: 100 }, { cause: new Error('the disk') }))
    expect(text.split('\n').length).toBeLessThanOrEqual(ERROR_LINES_MAX + 2)
    expect(text.endsWith('  → Do this.\n')).toBe(true)
    expect(formatError(errors('SHOW_TEST', { n: 1 }, { cause: new Error('the disk') }))).toBe(
      'error: x\n (SHOW_TEST)\n  because: the disk\n  → Do this.\n',
    )
  })

  test('an untyped error shows where it comes from', () => {
    expect(formatError(new TypeError('x is not y'))).toMatch(/^error: x is not y\n {4}at /)
    expect(formatError(undefined)).toBe('error: undefined\n')
  })
})

test('exit codes tell done, failed, denied and interrupted apart', () => {
  const code = (reason: TurnResult['reason'], denied: string[] = []) =>
    exitCodeOf({ turn: 1, reason, text: '', denied })
  expect([code('completed'), code('completed', ['c1'])]).toEqual([0, 3])
  expect((['blocked', 'error', 'length', 'budget'] as const).map((reason) => code(reason, ['c1']))).toEqual([
    1, 1, 1, 1,
  ])
  expect([code('aborted'), code('interrupted')]).toEqual([130, 130])
})

describe('questions', () => {
  const question = (callId: string, more: Partial<Question> = {}): Question => ({
    callId,
    sessionId: 's',
    tool: 'bash',
    text: 'Allow bash(rm -r build)?',
    asks: [{ by: 'permissions', reason: 'no rule', offers: [{ id: 'o1', text: 'bash(rm -r build)' }] }],
    card: { v: 1, kind: 'terminal', title: 'bash', command: 'rm -r build' },
    signal: new AbortController().signal,
    ...more,
  })
  const answers = async (...lines: string[]) => {
    const t = watchedTerminal('/', { interactive: true, lines })
    const ask = terminalAnswerer(t)
    const got = await Promise.all(lines.map(async (_, index) => ask(question(`c${index}`))))
    return { got, out: t.out }
  }

  test('only a clear yes allows; words become the message; a letter takes the offer that is shown whole', async () => {
    const { got, out } = await answers('y', 'YES', 'n', '', 'use git clean', 'a', '1', 'yes please', 'A')
    expect(got).toEqual([
      { callId: 'c0', kind: 'allow-once' },
      { callId: 'c1', kind: 'allow-once' },
      { callId: 'c2', kind: 'reject' },
      { callId: 'c3', kind: 'reject' },
      { callId: 'c4', kind: 'reject', message: 'use git clean' },
      { callId: 'c5', kind: 'allow-once', offer: 'o1' },
      { callId: 'c6', kind: 'reject', message: '1' },
      { callId: 'c7', kind: 'reject', message: 'yes please' },
      { callId: 'c8', kind: 'allow-once', offer: 'o1' },
    ])
    expect(out).toContain('\n  a  allow, and always allow bash(rm -r build)\n  allow? [y/n/a, or say why not] ')
    expect(out).toContain('  │ rm -r build')
  })

  test('a rule is shown whole and as it is, and several have numbers', async () => {
    const texts = [`bash(echo  ${'x'.repeat(300)} \u202e)`, 'bash']
    const offers = texts.map((text, index) => ({ id: `o${index}`, text }))
    const t = watchedTerminal('/', { interactive: true, lines: ['2', 'a', ''] })
    const ask = terminalAnswerer(t)
    const asks = [{ by: 'otherwise', reason: 'no rule', offers }]
    const got = await Promise.all(['c1', 'c2', 'c3'].map(async (id) => ask(question(id, { asks }))))
    expect(got).toEqual([
      { callId: 'c1', kind: 'allow-once', offer: 'o1' },
      { callId: 'c2', kind: 'reject', message: 'a' },
      { callId: 'c3', kind: 'reject' },
    ])
    expect(t.out).toContain(`\n  1  allow, and always allow ${texts[0]?.replace('\u202e', '\\u{202e}')}\n  2  allow,`)
    expect(t.out).toContain('[y/n/1/2, or say why not] ')
  })

  test('a question says who asks and why, and nobody where only a rule is missing', async () => {
    const shown = async (by: string) => {
      const t = watchedTerminal('/', { interactive: true, lines: ['n'] })
      await terminalAnswerer(t)(
        question('c1', { text: 'Allow it? it is risky', asks: [{ by, reason: 'it is risky' }] }),
      )
      return t.out.split('it is risky').length - 1
    }
    expect([await shown('careful'), await shown('otherwise')]).toEqual([2, 1])
  })

  test('the end of input dismisses a question, and a question that is settled elsewhere is left alone', async () => {
    const t = watchedTerminal('/', { interactive: true, lines: [] })
    expect(await terminalAnswerer(t)(question('c1'))).toEqual({ callId: 'c1', kind: 'cancel' })
    const gone = new AbortController()
    const waiting = watchedTerminal('/', { interactive: true, lines: [], after: 'wait' })
    const asked = terminalAnswerer(waiting)(question('c2', { signal: gone.signal }))
    await waiting.until('allow?')
    gone.abort()
    expect(await asked).toBeUndefined()
  })
})

test('what the model is told about its task', () => {
  expect(SYSTEM_PROMPT.split('\n')).toEqual([
    'You are a coding agent. You work on the files of one project with the tools you are given.',
    '',
    '- Look before you act: read what you are about to change, and search instead of guessing.',
    '- Make the smallest change that does the task. Keep the style of the code around it.',
    '- After a change, run what proves it: the tests, or the program itself.',
    '- A refused or failed call is information: read the reason, then take another way. Do not repeat the same call unchanged.',
    '- Say at the end, in a few sentences, what you changed and how you know that it works.',
  ])
  expect(environmentText('/proj', 'linux')).toBe('Working folder: /proj\nPlatform: linux')
})
