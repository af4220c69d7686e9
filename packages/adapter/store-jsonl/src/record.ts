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

export type RecordProblem = { readonly kind: 'bad-json' | 'bad-crc'; readonly detail: string }

/** The line for an event's JSON text, with LF. The text starts with `{"seq":` and is ASCII where the suffix joins. */
export function encodeRecord(json: string): string {
  const body = json.slice(0, -1)
  const crc = crc32(body).toString(16).padStart(8, '0')
  return `${body},"crc":"${crc}"}\n`
}

/** The event of one line (without its LF), deeply frozen, or what is wrong with it. */
export function decodeRecord(line: Buffer): SessionEvent | RecordProblem {
  const json = checkedText(line)
  if (typeof json !== 'string') return json
  try {
    const value: unknown = JSON.parse(json)
    const problem = envelopeProblem(value)
    return problem === undefined ? frozen(value as SessionEvent) : { kind: 'bad-json', detail: problem }
  } catch {
    // Too deep a nesting ends here as well.
    return { kind: 'bad-json', detail: 'the line is not JSON although its crc fits' }
  }
}

/** The JSON text of a line without its crc, if the crc fits. */
export function checkedText(line: Buffer): string | RecordProblem {
  const split = line.length - SUFFIX_BYTES
  const ends = line[line.length - 2] === QUOTE && line[line.length - 1] === BRACE
  if (split < 2 || !ends || line.compare(KEY, 0, KEY.length, split, split + KEY.length) !== 0) {
    return { kind: 'bad-json', detail: line.length === 0 ? 'an empty line' : 'the line has no crc at its end' }
  }
  const crc = line.toString('latin1', split + KEY.length, line.length - 2)
  const body = line.subarray(0, split)
  if (crc32(body).toString(16).padStart(8, '0') !== crc)
    return { kind: 'bad-crc', detail: `the crc ${crc} does not fit` }
  return `${body.toString('utf8')}}`
}

function envelopeProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'the line is no object'
  const { seq, at, type, data, cause, optional } = value as Record<string, unknown>
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
