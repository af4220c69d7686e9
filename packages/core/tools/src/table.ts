/** Owns the order of a tool call, and of a batch. Nothing else states it. */
import { type AnswerOf, defineTable, type OutcomeOf, type StageOf } from '@sluice/pipeline'

export const callTable = defineTable({
  name: 'tool call',
  start: 'admit',
  end: 'end',
  rescue: 'normalize',
  stages: {
    admit: {
      does: 'Finds the tool, pins its definition, parses and validates the arguments, and logs the call.',
      outcomes: { admitted: 'prepare', 'unknown-tool': 'result', invalid: 'result', aborted: 'result' },
      detours: ['threw'],
      failsAs: 'failed',
      writes: ['tool/call', 'tool/code-dispatch'],
      shows: ['the call card, pending'],
    },
    prepare: {
      does: 'Lets plugins rewrite the arguments, then validates them again.',
      opened: { kind: 'waterfall', name: 'tools/prepare' },
      outcomes: { ready: 'pre-execute', invalid: 'finalize' },
      answers: [],
      detours: ['threw', 'expired', 'aborted'],
      failsAs: 'denied',
      writes: ['tool/rewritten'],
      shows: ['the call card of the new arguments'],
    },
    'pre-execute': {
      does: 'Asks every listener for a verdict; the strictest wins.',
      opened: { kind: 'waterfall', name: 'tools/pre-execute' },
      outcomes: { allow: 'guards', ask: 'screen', deny: 'denied' },
      answers: ['allow', 'ask', 'deny'],
      detours: ['threw', 'expired', 'aborted'],
      failsAs: 'denied',
    },
    screen: {
      does: 'Asks the guards before a person is asked.',
      opened: { kind: 'guards', name: 'ctx.tools.guard' },
      outcomes: { clear: 'approval', deny: 'denied' },
      detours: ['threw', 'aborted'],
      failsAs: 'denied',
    },
    approval: {
      does: 'Puts one question to whoever can answer.',
      opened: { kind: 'service', name: 'ctx.approval' },
      outcomes: { 'allowed-once': 'guards', rejected: 'denied', cancelled: 'denied', unavailable: 'denied' },
      detours: ['threw', 'aborted'],
      failsAs: 'denied',
      writes: ['approval/asked', 'approval/decided'],
      shows: ['the question'],
    },
    guards: {
      does: 'Waits for a slot, then asks the guards on the state as it is now.',
      opened: { kind: 'guards', name: 'ctx.tools.guard' },
      outcomes: { pass: 'execute', deny: 'denied' },
      detours: ['threw', 'aborted'],
      failsAs: 'denied',
    },
    execute: {
      does: 'Runs the body inside the wrappers.',
      opened: { kind: 'waterfall', name: 'tools/execute' },
      outcomes: { done: 'post-execute' },
      answers: ['done'],
      detours: ['threw', 'expired'],
      failsAs: 'failed',
      writes: ['tool/started'],
      shows: ['progress'],
    },
    denied: {
      does: 'Says why the call may not run.',
      outcomes: { denied: 'post-execute' },
    },
    'post-execute': {
      does: 'Lets plugins accept, replace or block the result.',
      opened: { kind: 'waterfall', name: 'tools/post-execute' },
      outcomes: { accept: 'finalize', replace: 'finalize', block: 'finalize' },
      answers: ['accept', 'replace', 'block'],
      detours: ['threw', 'expired'],
      failsAs: 'withheld',
    },
    normalize: {
      does: 'Makes a well-formed result of what went wrong.',
      outcomes: { normalized: 'finalize' },
    },
    finalize: {
      does: 'Lets the definition change the content one last time.',
      opened: { kind: 'definition', name: 'finalizeContent' },
      outcomes: { finalized: 'result', dropped: 'result' },
    },
    result: {
      does: 'Announces and logs the one result.',
      opened: { kind: 'notification', name: 'tools/result' },
      outcomes: { recorded: 'end' },
      answers: [],
      writes: ['tool/result', 'tool/code-dispatch'],
      shows: ['the result card, completed'],
    },
  },
})

export const batchTable = defineTable({
  name: 'batch',
  start: 'admit',
  end: 'end',
  stages: {
    admit: {
      does: 'Admits every call in request order before any of them goes on.',
      outcomes: { admitted: 'run' },
      writes: ['tool/call'],
    },
    run: {
      does: 'Lets the calls progress independently; each result is logged when it happens.',
      outcomes: { settled: 'collect' },
      writes: ['tool/result'],
    },
    collect: {
      does: 'Collects the contexts of all calls in request order; the agent delivers them after the last result.',
      outcomes: { collected: 'end' },
      writes: ['user/message'],
    },
  },
})

export type CallStage = StageOf<typeof callTable>
export type CallOutcome<S extends CallStage> = OutcomeOf<typeof callTable, S>
export type CallAnswer<S extends CallStage> = AnswerOf<typeof callTable, S>

/** What a throw or an expiry in the stage makes of the call: the column of the table. */
export function failsAs(stage: CallStage): 'failed' | 'denied' | 'withheld' {
  const row = callTable.stages[stage]
  return 'failsAs' in row ? row.failsAs : 'failed'
}
