/** Owns content for the model: decoded from what plugins return, or rendered from a value. */
import { type Json, type JsonObject, lossless } from '@sluice/base'
import type { ContentPart } from '@sluice/session'
import type { Registered } from './definition.ts'
import { noOutput } from './prompt.ts'

export function textContent(text: string): readonly ContentPart[] {
  return Object.freeze([Object.freeze({ type: 'text', text: (text === '' ? noOutput : text).toWellFormed() } as const)])
}

/** Frozen content from a text or a list of parts.
 *  @throws TypeError or JSON_NOT_LOSSLESS */
export function contentOf(given: unknown): readonly ContentPart[] {
  if (typeof given === 'string') return textContent(given)
  const parts = lossless(given)
  if (!Array.isArray(parts)) throw new TypeError('content is a text or a list of parts')
  for (const part of parts as readonly Json[])
    if (!isPart(part)) throw new TypeError('a part is { type: "text", text } or an image')
  return parts.length === 0 ? textContent('') : (parts as unknown as readonly ContentPart[])
}

function isPart(part: Json): boolean {
  if (part === null || typeof part !== 'object') return false
  const { type, text, mediaType, blob } = part as JsonObject
  if (type === 'text') return typeof text === 'string'
  return type === 'image' && typeof mediaType === 'string' && blob !== null && typeof blob === 'object'
}

/** What the model reads of `value`: rendered by the definition while its plugin is mounted. */
export function render(entry: Registered, value: Json | undefined, args: JsonObject): readonly ContentPart[] {
  if (value === undefined) return textContent('')
  if (entry.definition.render && !entry.gone) return contentOf(entry.definition.render(value, args))
  return textContent(typeof value === 'string' ? value : JSON.stringify(value))
}
