/** Owns call ids: each is used once in a session; empty and repeated ones are replaced before they enter the log. */
import type { AssistantPart, KnownEvent, Session } from '@sluice/session'

export class CallIds {
  private readonly used = new Set<string>()
  private cursor = 0

  /** The content with usable ids, and the ids that were replaced, by index among the calls. */
  settle(
    session: Session,
    content: readonly AssistantPart[],
    mint: () => string,
  ): {
    content: readonly AssistantPart[]
    originalIds?: Record<string, string>
  } {
    this.catchUp(session)
    const originals: Record<string, string> = {}
    let index = 0
    const settled = content.map((part) => {
      if (part.type !== 'tool-call') return part
      const at = index++
      let id = part.id
      if (id === '' || this.used.has(id)) {
        originals[at] = id
        id = mint()
      }
      this.used.add(id)
      return id === part.id ? part : { ...part, id }
    })
    return Object.keys(originals).length === 0 ? { content: settled } : { content: settled, originalIds: originals }
  }

  private catchUp({ events }: Session): void {
    for (; this.cursor < events.length; this.cursor++) {
      const event = events[this.cursor] as KnownEvent
      if (event.type !== 'assistant/message') continue
      for (const part of event.data.content) {
        if (part.type === 'tool-call') this.used.add(part.id)
      }
    }
  }
}
