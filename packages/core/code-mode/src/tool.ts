/** Owns the run_code tool: one call of a program, each of whose calls is an ordinary nested call. */
import { isSluiceError, type Json, messageOf } from '@sluice/base'
import type { KnownEvent, Session } from '@sluice/session'
import type { Card, Run, ToolDefinition, Tools } from '@sluice/tools'
import { Type } from 'typebox'
import { codeModeErrors } from './errors.ts'
import { descriptionDescription, failureText, programDescription, resultText, runCodeDescription } from './prompt.ts'
import type { CodeLimits, CodeReply, CodeRun, CodeRuntime } from './types.ts'

export const runCodeName = 'run_code'

interface Args {
  readonly program: string
  readonly description?: string
}

interface Value {
  readonly value: Json
  readonly output: readonly string[]
  readonly calls: number
}

/** Time beyond the wall limit in which the runtime ends a program by itself. */
const SLACK_MS = 5_000

function card({ program, description }: Args): Card {
  return {
    v: 1,
    kind: 'generic',
    title: description === undefined ? runCodeName : `${runCodeName}: ${description}`,
    text: program,
  }
}

async function reply(run: Run, binding: string, args: Json): Promise<CodeReply> {
  try {
    return { ok: true, value: await run.call(binding, args) }
  } catch (error) {
    if (isSluiceError(error, 'TOOLS_NESTED_FAILED')) {
      const { code, tool, reason, executed } = error.data as Omit<Extract<CodeReply, { ok: false }>, 'ok'>
      return { ok: false, code, tool, reason, executed }
    }
    const code = isSluiceError(error) ? error.code : 'TOOLS_BODY_FAILED'
    return { ok: false, code, tool: binding, reason: messageOf(error), executed: 'no' }
  }
}

/** The wall clock stands still while a call inside, however deep, waits for a person. */
function pauseForQuestions(session: Session, callId: string, code: CodeRun): () => void {
  const inside = new Set([callId])
  return session.subscribe((event) => {
    const { type, data } = event as KnownEvent
    if (type === 'tool/code-dispatch' && data.phase === 'start' && inside.has(data.parent)) inside.add(data.callId)
    else if (type === 'approval/asked' && inside.has(data.callId)) code.pause()
    else if (type === 'approval/decided' && inside.has(data.callId)) code.resume()
  })
}

export function runCodeTool(tools: Tools, runtime: CodeRuntime, limits: CodeLimits): ToolDefinition<Args> {
  return {
    name: runCodeName,
    description: runCodeDescription,
    parameters: Type.Object({
      program: Type.String({ description: programDescription }),
      description: Type.Optional(Type.String({ description: descriptionDescription })),
    }),
    annotations: { transparent: true },
    nested: false,
    timeoutMs: limits.wallMs + SLACK_MS,
    async execute({ program }, run) {
      const bindings = tools.visible(run.agent, 'nested').map((tool) => tool.name)
      const call = (binding: string, args: Json) => reply(run, binding, args)
      const code = runtime.run({ program, bindings, limits, signal: run.signal, call })
      const unsubscribe = pauseForQuestions(run.session, run.callId, code)
      try {
        const outcome = await code.outcome
        const { output, calls } = outcome
        if (outcome.kind === 'value') return { value: outcome.value, output, calls } satisfies Value
        if (outcome.kind === 'abort') throw run.signal.reason
        const { kind, message, line } = outcome
        const data = { kind, message: failureText(kind, message, line, output), output }
        throw codeModeErrors('CODE_FAILED', line === undefined ? data : { ...data, line })
      } finally {
        unsubscribe()
      }
    },
    render(value) {
      const { value: returned, output } = value as unknown as Value
      return resultText(JSON.stringify(returned), output)
    },
    presentCall: card,
    presentResult: (args, { content }) =>
      ({ ...card(args), text: content.map((part) => (part.type === 'text' ? part.text : '')).join('\n') }) as Card,
  }
}
