/** Owns content for the model: decoded from what plugins return, or rendered from a value. */
import { type Json, type JsonObject, lossless, schemaCheck } from '@sluice/base'
import { type ContentPart, sessionEvents } from '@sluice/session'
import type { Registered } from './definition.ts'
import { noOutput, notContent } from './prompt.ts'

export function textContent(text: string): readonly ContentPart[] {
  return lossless([{ type: 'text', text: text === '' ? noOutput : text }]) as unknown as readonly ContentPart[]
}

/** Frozen content from a text or a list of parts.
 *  @throws TypeError or JSON_NOT_LOSSLESS */
export function contentOf(given: unknown): readonly ContentPart[] {
  if (typeof given === 'string') return textContent(given)
  const parts = lossless(given)
  if (!isContent(parts)) throw new TypeError(notContent)
  return parts.length === 0 ? textContent('') : parts
}

/** What the log holds as content, and nothing else. */
function isContent(value: Json): value is Json & readonly ContentPart[] {
  return schemaCheck(sessionEvents['tool/result'].schema.properties.content).test(value)
}

/** What the model reads of `value`: rendered by the definition while its plugin is mounted. */
export function render(entry: Registered, value: Json, args: JsonObject): readonly ContentPart[] {
  if (value === null) return textContent('')
  if (entry.definition.render && !entry.gone) return contentOf(entry.definition.render(value, args))
  return textContent(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Content as one text. */
export function flatten(content: readonly ContentPart[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`)).join('\n')
}
