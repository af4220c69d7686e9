/** Owns turning the chunks that endpoints send into the chunks that the provider library takes. */
import { CallPieces, type CallPiece } from './call-pieces.ts'

/** Stands for the reason of an answer that ended without one. */
export const NO_FINISH = 'sluice_no_finish'

type Loose = Record<string, unknown>

const isObject = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reasons by the names that servers give them; any other name is an error of the answer. */
const reasons = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['stop_sequence', 'stop'],
  ['end_turn', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['content_filter', 'content_filter'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
])

export class ChunkError extends Error {
  override readonly name = 'ChunkError'
}

export class ChatChunks {
  private readonly pieces: CallPieces
  private readonly mint: () => string
  private reason: string | undefined

  constructor(toolNames: ReadonlySet<string>, mint: () => string) {
    this.pieces = new CallPieces(toolNames)
    this.mint = mint
  }

  /** True once the endpoint has said why the answer ended. */
  get finished(): boolean {
    return this.reason !== undefined
  }

  /** The chunks to pass on for one event. Tool calls are held back until they are whole.
   *  @throws ChunkError, PiecesError */
  push(data: string): Loose[] {
    const chunk = parse(data)
    if (!isObject(chunk)) return []
    if (chunk.error !== undefined && chunk.error !== null) throw new ChunkError(errorText(chunk.error))
    const choices = Array.isArray(chunk.choices) ? (chunk.choices as unknown[]) : []
    const choice = choices.find(isObject) ?? {}
    const delta = isObject(choice.delta) ? choice.delta : {}
    const started = list(delta.tool_calls).flatMap((piece) => this.start(piece))
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.reason = choice.finish_reason
    const passed = {
      id: textOrNull(chunk.id),
      model: textOrNull(chunk.model),
      usage: usageOf(chunk.usage),
      choices: choices.length === 0 ? [] : [{ delta: { ...wording(delta), tool_calls: started }, finish_reason: null }],
    }
    return [passed]
  }

  /** The last chunk: every tool call whole, and why the answer ended.
   *  @throws PiecesError */
  end(): Loose {
    const reason = this.reason === undefined ? NO_FINISH : (reasons.get(this.reason) ?? this.reason)
    const cutOff = reason !== 'stop' && reason !== 'tool_calls'
    const calls = this.pieces.finish(cutOff).map((call) => ({
      index: call.place,
      id: call.id || this.mint(),
      function: { name: call.name, arguments: call.argumentsText },
    }))
    return { choices: [{ delta: { tool_calls: calls }, finish_reason: reason }] }
  }

  private start(piece: unknown): Loose[] {
    const started = isObject(piece) ? this.pieces.add(piece as CallPiece) : undefined
    return started ? [{ index: started.place, id: started.id, function: { name: started.name, arguments: '' } }] : []
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    throw new ChunkError(`an event is not JSON: ${data.slice(0, 120)}`)
  }
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : [])
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The fields that carry words; anything else an endpoint adds is not looked at. */
function wording(delta: Loose): Loose {
  const words: Loose = {}
  for (const key of ['content', 'refusal', 'reasoning_content', 'reasoning']) {
    const value = delta[key]
    if (typeof value === 'string') words[key] = value
    if (key === 'content' && Array.isArray(value)) words[key] = value.filter((part) => isObject(part) && 'type' in part)
  }
  return words
}

/** Counts only when both are told: the provider library takes a missing one for nothing. */
function usageOf(usage: unknown): Loose | null {
  if (!isObject(usage)) return null
  const numbers = numbersOnly(usage)
  return typeof numbers.prompt_tokens === 'number' && typeof numbers.completion_tokens === 'number' ? numbers : null
}

function numbersOnly(usage: Loose): Loose {
  const kept: Loose = {}
  for (const [key, value] of Object.entries(usage)) {
    if (typeof value === 'number') kept[key] = value
    else if (isObject(value)) kept[key] = numbersOnly(value)
  }
  return kept
}

function errorText(error: unknown): string {
  if (typeof error === 'string') return `the endpoint reported: ${error}`
  const message = isObject(error) && typeof error.message === 'string' ? error.message : JSON.stringify(error)
  return `the endpoint reported: ${message.slice(0, 500)}`
}
