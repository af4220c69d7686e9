/** Owns one line of the log file: a JSON object whose last key is the CRC-32 of the bytes before it. */
import { crc32 } from 'node:zlib'
import type { SessionEvent } from '@sluice/session'

export const LF = 0x0a

/** `,"crc":"00000000"}` */
const SUFFIX_BYTES = 18
/** The end of a line with its LF: tells a record from others. */
export const MARK_BYTES = SUFFIX_BYTES + 1
const QUOTE = 0x22
const BRACE = 0x7d
const KEY = Buffer.from(',"crc":"')

/** What is wrong with a line. A class, because events are objects of any shape. */
export class Problem {
  readonly kind: 'bad-json' | 'bad-crc'
  readonly detail: string
  constructor(kind: 'bad-json' | 'bad-crc', detail: string) {
    this.kind = kind
    this.detail = detail
  }
}

/** The line for an event's JSON text, with LF. The text starts with `{"seq":` and is ASCII where the suffix joins. */
export function encodeRecord(json: string): string {
  const body = json.slice(0, -1)
  const crc = crc32(body).toString(16).padStart(8, '0')
  return `${body},"crc":"${crc}"}\n`
}

/** The event of one line (without its LF), deeply frozen, or what is wrong with it. */
export function decodeRecord(line: Buffer): SessionEvent | Problem {
  const value = decodeLine(line)
  if (value instanceof Problem) return value
  const { seq, at, type, data, cause, optional } = value as Record<string, unknown>
  const problem = envelopeProblem(value as Record<string, unknown>)
  if (problem !== undefined) return new Problem('bad-json', problem)
  const event = { seq, at, type, data } as { -readonly [K in keyof SessionEvent]: SessionEvent[K] }
  if (cause !== undefined) event.cause = cause as number
  if (optional !== undefined) event.optional = true
  try {
    return frozen(event)
  } catch {
    return new Problem('bad-json', 'the line is nested too deep')
  }
}

/** The JSON value of a line whose crc fits, the crc still in it. */
export function decodeLine(line: Buffer): object | Problem {
  const split = line.length - SUFFIX_BYTES
  if (split < 2 || !endsLikeRecord(line, split)) {
    return new Problem('bad-json', line.length === 0 ? 'an empty line' : 'the line has no crc at its end')
  }
  const crc = line.toString('latin1', split + KEY.length, line.length - 2)
  if (!/^[0-9a-f]{8}$/.test(crc) || crc32(line.subarray(0, split)) !== Number.parseInt(crc, 16)) {
    return new Problem('bad-crc', `the crc ${crc} does not fit`)
  }
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    return typeof value === 'object' && value !== null ? value : new Problem('bad-json', 'the line is no object')
  } catch {
    return new Problem('bad-json', 'the line is not JSON although its crc fits')
  }
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

export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const key in value) frozen(value[key])
  return Object.freeze(value)
}
