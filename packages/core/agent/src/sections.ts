/** Owns the parts of the system prompt: who gives them, in which order, and their text for one session. */
import { messageOf } from '@sluice/base'
import type { Session } from '@sluice/session'
import { agentErrors } from './errors.ts'

export type SectionText = string | ((session: Session, agent: string) => string | PromiseLike<string>)

interface Section {
  readonly name: string
  readonly order: number
  readonly owner: string
  readonly text: SectionText
}

export class Sections {
  private list: readonly Section[] = []

  /** @throws AGENT_SECTION_TAKEN */
  add(section: Section): () => void {
    const taken = this.list.find(({ name }) => name === section.name)
    if (taken) throw agentErrors('AGENT_SECTION_TAKEN', { name: section.name, owner: taken.owner })
    this.list = [...this.list, section].sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1))
    return () => {
      this.list = this.list.filter((other) => other !== section)
    }
  }

  /** The system prompt of `session`: the texts in order, empty ones left out.
   *  @throws AGENT_SECTION_FAILED */
  async render(session: Session, agent: string): Promise<string> {
    const texts: string[] = []
    for (const { name, owner, text } of this.list) {
      try {
        const made = typeof text === 'string' ? text : await text(session, agent)
        if (made !== '') texts.push(made)
      } catch (error) {
        throw agentErrors('AGENT_SECTION_FAILED', { name, owner, problem: messageOf(error) }, { cause: error })
      }
    }
    return texts.join('\n\n')
  }
}
