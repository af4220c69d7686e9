/** Owns one step of a turn: one model request, and the batch of calls that it leads to. */
import { mintId, messageOf } from '@sluice/base'
import type { ModelRequest } from '@sluice/llm'
import type { FinishReason, SessionEventMap, ToolCallPart, Usage } from '@sluice/session'
import type { SettledBatch } from '@sluice/tools'
import { admit, textContent } from './admit.ts'
import { withUsableIds } from './callids.ts'
import type { Turn } from './driver.ts'
import { type Ending, endingBy } from './ending.ts'
import { agentErrors } from './errors.ts'
import { cutOffBy, cutOffByLog } from './prompt.ts'
import { collectReply, type Reply } from './reply.ts'

type AssistantData = Readonly<SessionEventMap['assistant/message']>

/** Plays a step. `owed`: the model is owed another request; `idle`: it is owed nothing; otherwise how the turn ends. */
export async function playStep(turn: Turn, step: number): Promise<'owed' | 'idle' | Ending> {
  const { session, signal } = turn
  session.append('step/started', { turn: turn.turn, step })
  try {
    const { steering, contexts } = turn.inbox
    if (steering.size > 0 || contexts.size > 0) await deliverInbox(turn)
    const made = prepareRequest(turn)
    const request = made instanceof Promise ? await made : made
    await session.durable()
    const open = () => turn.llm.stream({ ...request, messages: session.messages().slice(), signal, session })
    const reply = await collectReply(turn.model, open, signal, (piece) => turn.piece(piece, step))
    const message = appendReply(turn, reply)
    const calls = message?.content.filter((part) => part.type === 'tool-call') ?? []
    if (calls.length === 0) return afterText(turn, reply)
    const batch = await settleCalls(turn, calls, reply.finish)
    return afterBatch(turn, reply, batch)
  } finally {
    if (session.writable) session.append('step/ended', { turn: turn.turn, step })
  }
}

/** Appends what waits for this step: steering that its plugins admit, then contexts. */
async function deliverInbox(turn: Turn): Promise<void> {
  const { steering } = turn.inbox
  for (let input = steering.shift(); input; input = steering.shift()) {
    try {
      const blocked = await admit(turn, input.text, input.source)
      if (blocked !== undefined) turn.ctx.logger.warn('input for the running turn was blocked: %s', blocked)
    } catch (error) {
      // What was not admitted yet is kept in its order for the next turn.
      for (const kept of [input, ...steering.drain()]) steering.push(kept)
      throw error
    }
  }
  for (const { text, source } of turn.inbox.contexts.drain()) {
    turn.session.append('user/message', { content: textContent(text), source })
  }
}

type Request = Pick<ModelRequest, 'model' | 'system' | 'tools'>

/** A promise only when a section or the log has to be waited for. */
function prepareRequest(turn: Turn): Request | Promise<Request> {
  const { session, model, sections, request, instructions } = turn
  const tools = request.tools(turn.tools.visible(turn.name))
  const finish = (text: string): Request | Promise<Request> => {
    const system = [text, instructions].filter((part) => part !== '').join('\n\n')
    const made = { model, system, tools }
    return request.record(session, model, system)?.then(() => made) ?? made
  }
  const text = sections.render(session, turn.name)
  return typeof text === 'string' ? finish(text) : text.then(finish)
}

/** Appends the assistant message, with call ids that no other call of the session has; nothing when nothing arrived. */
function appendReply(turn: Turn, reply: Reply): AssistantData | undefined {
  const { session, model, world } = turn
  const { usage, finish, failure } = reply
  turn.tokens += tokensOf(usage)
  if (reply.content.length === 0 && (failure !== undefined || usage === undefined)) return undefined
  const data = {
    ...withUsableIds(session, reply.content, () => mintId(world, 'call')),
    finish,
    model,
    ...(usage && { usage }),
    ...(failure && { interrupted: failure.message }),
  }
  const event = session.append('assistant/message', data)
  turn.text = event.data.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  return event.data
}

/** Runs the calls of a whole message, or settles those of a broken one without running them; then hands on their contexts. */
async function settleCalls(turn: Turn, calls: readonly ToolCallPart[], finish: FinishReason): Promise<SettledBatch> {
  const { session, signal } = turn
  const cutOff = cutOffBy(finish) ?? (await problemOfLog(turn))
  const batch = await turn.tools.batch({
    session,
    calls: calls.map(({ id, name, argumentsText }) => ({ id, tool: name, arguments: argumentsText })),
    agent: turn.name,
    signal,
    ...(cutOff !== undefined && { cutOff }),
  })
  for (const context of batch.contexts) {
    session.append('user/message', { content: textContent(context), source: 'context' })
  }
  for (const { callId, result } of batch.calls) if (result.outcome.tag === 'denied') turn.denied.push(callId)
  return batch
}

/** The assistant message is on disk before any of its calls runs. */
async function problemOfLog({ session }: Turn): Promise<string | undefined> {
  try {
    await session.durable()
    return undefined
  } catch (error) {
    return cutOffByLog(messageOf(error))
  }
}

function afterText(turn: Turn, reply: Reply): 'idle' | Ending {
  if (reply.finish === 'length') return { reason: 'length', detail: 'the reply was cut off at the output limit' }
  return endingOf(turn, reply) ?? 'idle'
}

function afterBatch(turn: Turn, reply: Reply, batch: SettledBatch): 'owed' | Ending {
  turn.cutOffs = reply.finish === 'length' ? turn.cutOffs + 1 : 0
  if (turn.cutOffs > turn.limits.cutOffsMax) {
    return { reason: 'length', detail: `${turn.cutOffs} messages in a row were cut off at the output limit` }
  }
  const ending = endingOf(turn, reply)
  if (ending) return ending
  return batch.endTurn ? { reason: 'completed' } : 'owed'
}

/** How a reply that is not whole, or an abort meanwhile, ends the turn. */
function endingOf({ model, signal }: Turn, { finish, failure }: Reply): Ending | undefined {
  if (signal.aborted) return endingBy(signal.reason)
  if (failure !== undefined) return { reason: 'error', code: failure.code, detail: failure.message }
  if (finish === 'filter') return endingBy(agentErrors('AGENT_REPLY_FILTERED', { model }))
  if (finish === 'error' || finish === 'aborted' || finish === 'incomplete') {
    return endingBy(agentErrors('AGENT_REPLY_FAILED', { model, problem: `the stream ended with ${finish}` }))
  }
  return undefined
}

function tokensOf(usage: Usage | undefined): number {
  return (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)
}
