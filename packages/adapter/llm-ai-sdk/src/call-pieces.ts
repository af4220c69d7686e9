/** Owns putting tool calls together from the pieces of an OpenAI-style stream, however an endpoint numbers them. */

/** A piece as endpoints send it; every field may be absent, null or odd. */
export interface CallPiece {
  readonly index?: unknown
  readonly id?: unknown
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null
}

export interface WholeCall {
  /** Place in the order in which calls were first seen. */
  readonly place: number
  /** Empty when the endpoint gave none. */
  readonly id: string
  readonly name: string
  readonly argumentsText: string
}

/** Calls of one answer; more are not believed. */
export const CALLS_MAX = 256

interface OpenCall {
  id: string | undefined
  index: number | undefined
  readonly names: string[]
  readonly args: string[]
  /** The name that was already told; it cannot change any more. */
  announced?: string
}

/** An answer whose pieces do not add up; nothing of it may run. */
export class PiecesError extends Error {
  override readonly name = 'PiecesError'
}

export class CallPieces {
  private readonly calls: OpenCall[] = []
  private readonly toolNames: ReadonlySet<string>

  constructor(toolNames: ReadonlySet<string>) {
    this.toolNames = toolNames
  }

  get count(): number {
    return this.calls.length
  }

  /** Adds a piece; returns the call and its place once its id and name are certain, at most once per call.
   *  @throws PiecesError when the piece belongs to no call */
  add(piece: CallPiece): { readonly place: number; readonly id: string; readonly name: string } | undefined {
    const id = textOf(piece.id).trim() || undefined
    const name = textOf(piece.function?.name)
    const args = argumentsOf(piece.function?.arguments)
    const index = indexOf(piece.index)
    if (id === undefined && name === '' && args === '') return undefined
    const call = this.find(id, index, name) ?? this.open(id, index, name)
    call.id ??= id
    call.index ??= index
    if (name !== '') call.names.push(name)
    if (args !== '') call.args.push(args)
    return this.announce(call)
  }

  /** Every call in the order in which it was first seen. A call that never got a name is left out when the answer was
   *  cut off. @throws PiecesError when the answer was whole */
  finish(cutOff: boolean): WholeCall[] {
    const whole: WholeCall[] = []
    for (const [place, call] of this.calls.entries()) {
      const name = this.nameOf(call)
      if (name === '' && cutOff) continue
      if (name === '') throw new PiecesError(`tool call ${place + 1} has no name`)
      whole.push({ place, id: call.id ?? '', name, argumentsText: call.args.join('') })
    }
    return whole
  }

  private find(id: string | undefined, index: number | undefined, name: string): OpenCall | undefined {
    const atIndex = index === undefined ? undefined : this.calls.findLast((call) => call.index === index)
    if (id !== undefined) {
      const known = this.calls.findLast((call) => call.id === id && (index === undefined || call.index === index))
      if (known) return known
      const sameId = this.calls.findLast((call) => call.id === id)
      if (sameId && name === '') return sameId
      // An id that comes late belongs to the call that still lacks one.
      const candidate = index === undefined ? this.calls.at(-1) : atIndex
      return candidate?.id === undefined && (name === '' || candidate?.names.length === 0) ? candidate : undefined
    }
    const candidate = index === undefined ? this.calls.at(-1) : atIndex
    if (candidate && name !== '' && candidate.names.length > 0 && isWhole(candidate)) return undefined
    return candidate
  }

  private open(id: string | undefined, index: number | undefined, name: string): OpenCall {
    if (id === undefined && index === undefined && name === '') {
      throw new PiecesError('a piece of tool-call arguments belongs to no call')
    }
    if (this.calls.length >= CALLS_MAX) throw new PiecesError(`more than ${CALLS_MAX} tool calls`)
    const call: OpenCall = { id, index, names: [], args: [] }
    this.calls.push(call)
    return call
  }

  /** Only a known tool whose arguments have begun is certain: names may come in pieces. */
  private announce(call: OpenCall) {
    const name = this.nameOf(call)
    if (call.announced !== undefined) {
      if (name !== call.announced) throw new PiecesError(`the name of a tool call changed from ${call.announced}`)
      return undefined
    }
    if (call.id === undefined || call.args.length === 0 || !this.toolNames.has(name)) return undefined
    call.announced = name
    return { place: this.calls.indexOf(call), id: call.id, name }
  }

  /** Some endpoints send a name in pieces, others repeat it with every piece: a known tool decides. */
  private nameOf({ names }: OpenCall): string {
    const joined = names.join('').trim()
    const first = (names[0] ?? '').trim()
    const repeated = names.every((name) => name.trim() === first)
    return repeated && !this.toolNames.has(joined) ? first : joined
  }
}

function isWhole({ args }: OpenCall): boolean {
  try {
    return typeof JSON.parse(args.join('')) === 'object'
  } catch {
    return false
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A few endpoints send the arguments as a value instead of as text. */
const argumentsOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : textOf(value)

function indexOf(value: unknown): number | undefined {
  const index = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 ? index : undefined
}
