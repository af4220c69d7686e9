/** Owns the parts of the system prompt: who gives them, in which order, and their text for one session. */
import { adopt, isPromise, messageOf } from '@sluice/base'
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

  /** The system prompt of `session`: the texts in order, empty ones left out. A promise only when a text is one.
   *  @throws AGENT_SECTION_FAILED by a rejection */
  render(session: Session, agent: string): string | Promise<string> {
    const texts = this.list.map((section) => textOf(section, session, agent))
    return texts.some(isPromise)
      ? Promise.all(texts.map((text) => adopt(text))).then(joined)
      : joined(texts as readonly string[])
  }
}

function textOf({ name, owner, text }: Section, session: Session, agent: string): string | Promise<string> {
  const failed = (cause: unknown) =>
    Promise.reject<string>(agentErrors('AGENT_SECTION_FAILED', { name, owner, problem: messageOf(cause) }, { cause }))
  try {
    const made = typeof text === 'string' ? text : text(session, agent)
    return typeof made === 'string' ? made : adopt(made).catch(failed)
  } catch (error) {
    return failed(error)
  }
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}
