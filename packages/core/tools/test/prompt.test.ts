/** Pins every sentence of this package that a model reads. */
import type { Executed, Outcome } from '@sluice/session'
import { expect, it } from 'vitest'
import * as prompt from '../src/prompt.ts'

it('an outcome without content of its own says what happened, whether the tool ran, and what to do', () => {
  const said = (outcome: Outcome, quoted?: string, remedy?: string) =>
    prompt.outcomeText(outcome, 'edit', quoted, remedy).split('\n')
  const each = (make: (executed: Executed) => Outcome) => (['yes', 'no', 'unknown'] as const).map((e) => said(make(e)))
  expect(said({ tag: 'succeeded', executed: 'yes' })).toEqual([''])
  expect(each((executed) => ({ tag: 'failed', executed, code: 'X', message: 'it broke' }))).toEqual([
    ['it broke'],
    ['it broke', 'The tool did not run.'],
    ['it broke', 'Whether it took effect is unknown: look before you repeat it.'],
  ])
  expect(each((executed) => ({ tag: 'aborted', executed, reason: 'enough' }))).toEqual([
    ['Aborted: enough. The tool ran.'],
    ['Aborted: enough. The tool did not run.'],
    ['Aborted: enough. Whether it took effect is unknown: look before you repeat it.'],
  ])
  expect(said({ tag: 'timed-out', executed: 'yes', reason: prompt.deadlineReason(20) })).toEqual([
    'Timed out: no end within 20 ms. The tool ran.',
  ])
  expect(said({ tag: 'interrupted', executed: 'unknown' })).toEqual([
    'Aborted: interrupted. Whether it took effect is unknown: look before you repeat it.',
  ])
  const denied: Outcome = { tag: 'denied', executed: 'no', stage: 'guards', by: 'rules#3', reason: 'not here' }
  expect(said(denied)).toEqual(['Denied by rules#3: not here', 'The tool did not run.'])
  expect(said(denied, undefined, 'Go there.')).toEqual([
    'Denied by rules#3: not here',
    'Go there.',
    'The tool did not run.',
  ])
  const problems = [{ path: '$', problem: prompt.notAnObject }]
  expect(said({ tag: 'invalid', executed: 'no', problems }, '[1]')).toEqual([
    'The arguments of edit are invalid. Nothing was run.',
    '- $: the arguments are not an object',
    'You wrote: [1]',
  ])
  expect(said({ tag: 'invalid', executed: 'no', problems: [], by: 'rewriter#4' })).toEqual([
    'The arguments of edit are invalid after rewriter#4 changed them. Nothing was run.',
    '',
  ])
  expect(said({ tag: 'unknown-tool', executed: 'no', nearest: ['exit', 'audit'] })).toEqual([
    'There is no tool named "edit". Did you mean exit or audit? Nothing was run.',
  ])
  expect(said({ tag: 'unknown-tool', executed: 'no', nearest: [] })).toEqual([
    'There is no tool named "edit". Nothing was run.',
  ])
})

it('what plugins and aborts do to a result is said in one line', () => {
  expect([
    prompt.noOutput,
    prompt.brokenText('retry#5', 'X_BROKEN', 'it tripped'),
    prompt.withheldText('X_BROKEN', 'retry#5', 'unknown'),
    prompt.rewrittenLine('rewriter#4', '{"path":"b"}'),
    prompt.cutOffReason('the output limit was reached'),
    prompt.cannotShow(prompt.notContent),
    prompt.outerEnded,
    prompt.outerAbandoned,
    prompt.noMessage,
    prompt.noReason,
    prompt.approvalNeeded,
    prompt.approvalDenied,
  ]).toEqual([
    '(no output)',
    'retry#5 failed (X_BROKEN): it tripped',
    'The result is withheld because retry#5 failed (X_BROKEN). Whether it took effect is unknown: look before you repeat it.',
    '[The arguments were changed by rewriter#4 before the call: {"path":"b"}]',
    'the message ended early (the output limit was reached), so none of its calls was run; send a smaller message',
    'its result cannot be shown: content is a text, or a list of texts { type: "text", text } and images',
    'the body of the outer call has ended',
    'the call was abandoned',
    'it failed',
    'no reason given',
    'no rule allows this call',
    {
      rejected: 'a person said no',
      cancelled: 'the question was dismissed',
      unavailable: 'this needs the approval of a person, and nobody could be asked',
    },
  ])
})

it('an abort is given its reason, if it has one in words', () => {
  const reasons = [
    'because',
    '',
    undefined,
    new Error('because'),
    new DOMException('This was aborted', 'AbortError'),
    7,
  ]
  const stopped = 'the caller stopped it'
  expect(reasons.map(prompt.abortReason)).toEqual(['because', stopped, stopped, 'because', stopped, stopped])
  expect(prompt.abortReason('half \ud800')).toBe('half \ufffd')
})

it('text that is quoted is cut, and stays well-formed where it is cut', () => {
  expect(prompt.quotedText('x'.repeat(501))).toHaveLength(500)
  expect(prompt.quotedText(`${'x'.repeat(499)}😀`).endsWith('x\ufffd')).toBe(true)
})
