/** Owns taking values that are too long for a line out of an event. */
import { createHash } from 'node:crypto'
import type { Json } from '@sluice/base'
import type { BlobRef, ToolResultData } from './types.ts'

/** Characters of a value that stay in the event. */
export const PREVIEW_MAX = 500

export interface TakenOut {
  readonly data: Json
  readonly blob: BlobRef
  readonly bytes: Uint8Array
}

/** `data` of an event with its tool value replaced by a reference; `undefined` when nothing is that long. */
export function takeOut(type: string, data: Json, bytesMax: number): TakenOut | undefined {
  if (type === 'tool/result') return fromResult(data as unknown as ToolResultData, bytesMax)
  if (type !== 'tool/code-dispatch') return undefined
  const { result } = data as unknown as { result?: ToolResultData }
  const taken = result && fromResult(result, bytesMax)
  return taken && { ...taken, data: Object.freeze({ ...(data as object), result: taken.data }) as unknown as Json }
}

function fromResult(result: ToolResultData, bytesMax: number): TakenOut | undefined {
  const { value, ...rest } = result
  if (value === undefined || isSurelyShort(value, bytesMax)) return undefined
  const text = JSON.stringify(value)
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= bytesMax) return undefined
  const blob = Object.freeze({ digest: createHash('sha256').update(bytes).digest('hex'), size: bytes.length })
  const preview = text.slice(0, PREVIEW_MAX).toWellFormed()
  const data = Object.freeze({ ...rest, valueBlob: Object.freeze({ blob, preview }) })
  return { data: data as unknown as Json, blob, bytes }
}

/** Bytes that one character takes at most, escaped in JSON and as UTF-8. */
const CHARACTER_BYTES_MAX = 6

/** True for nearly every value, and told without making its text. */
function isSurelyShort(value: Json, bytesMax: number): boolean {
  return charactersLeft(value, bytesMax / CHARACTER_BYTES_MAX) >= 0
}

/** What is left of `left` after the text of `value`; stops as soon as nothing is. */
function charactersLeft(value: Json, left: number): number {
  if (typeof value === 'string') return left - value.length - 2
  if (typeof value !== 'object' || value === null) return left - String(value).length
  for (const [key, inner] of Object.entries(value as Record<string, Json>)) {
    left = charactersLeft(inner, left - key.length - 4)
    if (left < 0) return left
  }
  return left - 2
}
