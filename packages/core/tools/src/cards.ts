/** Owns cards: checks what presenters return, and makes the generic card where they fail. */
import { disown, type Json, type JsonObject, lossless, schemaCheck } from '@sluice/base'
import { type Card, sessionEvents } from '@sluice/session'
import type { Call } from './call.ts'
import { flatten } from './content.ts'
import type { Registered } from './definition.ts'
import type { ToolResult } from './outcome.ts'
import { NAME_SHOWN_MAX } from './prompt.ts'

/** Characters of a generic card's text. */
const TEXT_MAX = 400

/** A frozen card from what a presenter returns: what the log holds as a card, and nothing else. A presenter is decoration:
 *  the call stands without it. */
function cardBy(present: () => unknown): Card | undefined {
  try {
    const answer = present()
    disown(answer)
    const card = lossless(answer)
    const { card: shape } = sessionEvents['tool/call'].schema.properties
    return schemaCheck(shape).test(card) ? (card as unknown as Card) : undefined
  } catch {
    return undefined
  }
}

function generic(tool: string, state: string, text: string): Card {
  return Object.freeze({
    v: 1,
    kind: 'generic',
    title: `${tool.slice(0, NAME_SHOWN_MAX).toWellFormed()}${state}`,
    text: text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`.toWellFormed(),
  })
}

export function genericCallCard(tool: string, args: Json | undefined, text: string): Card {
  return generic(tool, '', args === undefined ? text : JSON.stringify(args))
}

export function callCard({ definition, gone }: Registered, args: JsonObject): Card {
  const own = definition.presentCall && !gone ? cardBy(() => definition.presentCall?.(args)) : undefined
  return own ?? genericCallCard(definition.name, args, '')
}

export function resultCard(entry: Registered | undefined, call: Call | undefined, result: ToolResult): Card {
  const { tool, outcome, content } = result
  const presents =
    call && entry?.gone === false && outcome.tag === 'succeeded' && entry.definition.presentResult !== undefined
  const own = presents ? cardBy(() => entry.definition.presentResult?.(call.args, result)) : undefined
  return own ?? generic(tool, `: ${outcome.tag}`, flatten(content))
}
