/** Owns one line of the log file: a JSON object whose last key is the CRC-32 of the bytes before it. */
import { crc32 } from 'node:zlib'
import type { SessionEvent } from '@sluice/session'

export const LF = 0x0a

/** `,"crc":"00000000"}`, which takes the place of a brace: with its LF a line is so much longer than its JSON text. */
export const SUFFIX_BYTES = 18
const QUOTE = 0x22
const BRACE = 0x7d
const KEY = Buffer.from(',"crc":"')
const DIGITS = Buffer.from('0123456789abcdef')

/** What is wrong with a line. A class, because events are objects of any shape. */
export class Problem {
  readonly kind: 'bad-json' | 'bad-crc'
  readonly detail: string
  constructor(kind: 'bad-json' | 'bad-crc', detail: string) {
    this.kind = kind
    this.detail = detail
  }
}

/** Writes the line for an event's JSON text, an object that is not empty, where there is room for it; returns the place after. */
export function writeRecord(json: string, into: Buffer, start: number): number {
  // The suffix takes the place of the closing brace.
  let at = start + into.write(json, start) - 1
  const crc = crc32(into.subarray(start, at))
  for (let i = 0; i < KEY.length; i++) into[at++] = KEY[i] as number
  for (let shift = 28; shift >= 0; shift -= 4) into[at++] = DIGITS[(crc >>> shift) & 15] as number
  into[at++] = QUOTE
  into[at++] = BRACE
  into[at++] = LF
  return at
}

/** The same as a text. */
export function encodeRecord(json: string): string {
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(json) + SUFFIX_BYTES)
  return bytes.toString('utf8', 0, writeRecord(json, bytes, 0))
}

/** The event of one line (without its LF), deeply frozen, or what is wrong with it. */
export function decodeRecord(line: Buffer): SessionEvent | Problem {
  const value = decodeLine(line)
  if (value instanceof Problem) return value
  const problem = envelopeProblem(value as Record<string, unknown>)
  if (problem !== undefined) return new Problem('bad-json', problem)
  try {
    return frozen(envelope(value as SessionEvent))
  } catch {
    return new Problem('bad-json', 'the line is nested too deep')
  }
}

/** The event without what does not belong to it; nearly always the value itself, which costs nothing. */
function envelope(value: SessionEvent): SessionEvent {
  const { seq, at, type, data, cause, optional } = value
  let surplus = -4 - Number(cause !== undefined) - Number(optional !== undefined)
  for (const _ in value) surplus++
  if (surplus === 0) return value
  return { seq, at, type, data, ...(cause !== undefined && { cause }), ...(optional && { optional }) }
}

/** The JSON value of a line whose crc fits, without the crc. The bytes of the line are changed. */
export function decodeLine(line: Buffer, encoding: 'utf8' | 'latin1' = 'utf8'): object | Problem {
  const split = line.length - SUFFIX_BYTES
  if (split < 2 || !endsLikeRecord(line, split)) {
    return new Problem('bad-json', line.length === 0 ? 'an empty line' : 'the line has no crc at its end')
  }
  if (crc32(line.subarray(0, split)) !== crcAt(line, split + KEY.length)) {
    const crc = line.toString('latin1', split + KEY.length, line.length - 2)
    return new Problem('bad-crc', `the crc ${crc} does not fit`)
  }
  try {
    // The crc is cut off here rather than deleted there: that would take a second object for each event.
    line[split] = BRACE
    const value: unknown = JSON.parse(line.toString(encoding, 0, split + 1))
    return typeof value === 'object' && value !== null ? value : new Problem('bad-json', 'the line is no object')
  } catch {
    return new Problem('bad-json', 'the line is not JSON although its crc fits')
  }
}

/** The number that eight lower-case hexadecimal digits stand for; -1 for anything else. */
function crcAt(line: Buffer, start: number): number {
  let crc = 0
  for (let i = start; i < start + 8; i++) {
    const byte = line[i] as number
    const isDigit = byte >= 0x30 && byte <= 0x39
    if (!isDigit && !(byte >= 0x61 && byte <= 0x66)) return -1
    crc = crc * 16 + (isDigit ? byte - 0x30 : byte - 0x57)
  }
  return crc
}

function endsLikeRecord(line: Buffer, split: number): boolean {
  if (line[line.length - 2] !== QUOTE || line[line.length - 1] !== BRACE) return false
  for (let i = 0; i < KEY.length; i++) if (line[split + i] !== KEY[i]) return false
  return true
}

function envelopeProblem(value: Record<string, unknown>): string | undefined {
  const { seq, at, type, data, cause, optional } = value
  if (!Number.isSafeInteger(seq) || (seq as number) < 0) return 'seq is no whole number'
  if (typeof at !== 'number') return 'at is no number'
  if (typeof type !== 'string') return 'type is no text'
  if (data === undefined) return 'there is no data'
  if (cause !== undefined && !Number.isSafeInteger(cause)) return 'cause is no whole number'
  if (optional !== undefined && optional !== true) return 'optional is neither absent nor true'
  return undefined
}

/** Freezes deeply. Loops over the length of a list and calls for containers only: that halves its time. */
export function frozen<T>(value: T): T {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (isContainer(value[i])) frozen(value[i])
  } else if (isContainer(value)) {
    for (const key in value) if (isContainer(value[key])) frozen(value[key])
  }
  return Object.freeze(value)
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
