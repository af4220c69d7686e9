/** Owns cards: checks what presenters return, and makes the generic card where they fail. */
import { type Json, type JsonObject, lossless, schemaCheck } from '@sluice/base'
import { type Card, type ContentPart, type Outcome, sessionEvents } from '@sluice/session'
import { disown } from './asking.ts'
import type { Registered } from './definition.ts'
import { NAME_SHOWN_MAX } from './prompt.ts'
import type { ToolDefinition, ToolResult } from './types.ts'

/** Characters of a generic card's text. */
const TEXT_MAX = 400

/** A frozen card from what a presenter returned: what the log holds as a card, and nothing else.
 *  @throws TypeError or JSON_NOT_LOSSLESS */
function cardOf(answer: unknown): Card {
  disown(answer)
  const card = lossless(answer)
  if (!schemaCheck(sessionEvents['tool/call'].schema.properties.card).test(card)) throw new TypeError('not a card')
  return card as unknown as Card
}

function shorten(text: string): string {
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`.toWellFormed()
}

function titleOf(tool: string): string {
  return tool.slice(0, NAME_SHOWN_MAX).toWellFormed()
}

export function genericCallCard(tool: string, args: Json | undefined, text: string): Card {
  return Object.freeze({
    v: 1,
    kind: 'generic',
    title: titleOf(tool),
    text: shorten(args === undefined ? text : JSON.stringify(args)),
  })
}

export function callCard({ definition, gone }: Registered, args: JsonObject): Card {
  if (definition.presentCall && !gone) {
    try {
      return cardOf(definition.presentCall(args))
    } catch {
      // A presenter is decoration: the call stands without it.
    }
  }
  return genericCallCard(definition.name, args, '')
}

export function textOf(content: readonly ContentPart[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`)).join('\n')
}

export function resultCard(
  definition: ToolDefinition | undefined,
  args: JsonObject | undefined,
  result: ToolResult,
  outcome: Outcome,
): Card {
  if (definition?.presentResult && args && outcome.tag === 'succeeded') {
    try {
      return cardOf(definition.presentResult(args, result))
    } catch {
      // A presenter is decoration: the call stands without it.
    }
  }
  return Object.freeze({
    v: 1,
    kind: 'generic',
    title: `${titleOf(result.tool)}: ${outcome.tag}`,
    text: shorten(textOf(result.content)),
  })
}
