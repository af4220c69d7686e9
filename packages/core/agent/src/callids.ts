/** Owns call ids: each is used once in a session; empty and repeated ones are replaced before they enter the log. */
import type { AssistantPart, Session } from '@sluice/session'
import { usedCallIds } from '@sluice/tools'

/** The content with usable ids, and the ids that were replaced, by index among the calls. */
export function withUsableIds(
  session: Session,
  content: readonly AssistantPart[],
  mint: () => string,
): {
  content: readonly AssistantPart[]
  originalIds?: Record<string, string>
} {
  const used = session.fold(usedCallIds)
  const own = new Set<string>()
  const originals: Record<string, string> = {}
  let index = 0
  const settled = content.map((part) => {
    if (part.type !== 'tool-call') return part
    const at = index++
    let { id } = part
    if (used.has(id) || own.has(id)) {
      originals[at] = id
      id = mint()
    }
    own.add(id)
    return id === part.id ? part : { ...part, id }
  })
  return Object.keys(originals).length === 0 ? { content: settled } : { content: settled, originalIds: originals }
}
