/** Owns what goes out with a model request besides the history: system prompt and tool list, recorded when they change. */
import { createHash } from 'node:crypto'
import { canonicalJson, lossless } from '@sluice/base'
import type { ToolSpec } from '@sluice/llm'
import type { Fold, KnownEvent, Session, SessionEventMap } from '@sluice/session'
import type { ToolInfo } from '@sluice/tools'

type RequestChanged = Readonly<SessionEventMap['request/changed']>

export const lastRequest: Fold<RequestChanged | null> = {
  name: 'agent/request',
  version: 1,
  initial: null,
  step(state, event) {
    const known = event as KnownEvent
    return known.type === 'request/changed' ? known.data : state
  },
}

const encoder = new TextEncoder()

/** The parts of a request that stay the same from step to step, each made again only when its source changed. */
export class RequestParts {
  private infos: readonly ToolInfo[] = []
  private specs: readonly ToolSpec[] = []
  private toolsText = '[]'
  private recorded: { model: string; system: string; tools: string } | undefined

  /** Tool specs for what is visible now. */
  tools(visible: readonly ToolInfo[]): readonly ToolSpec[] {
    if (!sameItems(this.infos, visible)) {
      this.infos = visible
      this.specs = visible.map(({ name, description, parameters }) => ({ name, description, parameters }))
      this.toolsText = canonicalJson(lossless(this.specs))
    }
    return this.specs
  }

  /** Appends `request/changed` with both bodies as blobs; nothing to wait for when the log already says the same. */
  record(session: Session, model: string, system: string): Promise<void> | undefined {
    const { recorded, toolsText: tools } = this
    if (recorded?.system === system && recorded.tools === tools && recorded.model === model) return undefined
    const last = session.fold(lastRequest)
    const same = last?.model === model && last.system.digest === digest(system) && last.tools.digest === digest(tools)
    this.recorded = same ? { model, system, tools } : undefined
    return same ? undefined : this.append(session, model, system)
  }

  private async append(session: Session, model: string, system: string): Promise<void> {
    const { toolsText: tools, specs } = this
    session.append('request/changed', {
      model,
      system: await session.putBlob(encoder.encode(system), { mediaType: 'text/plain', name: 'system prompt' }),
      tools: await session.putBlob(encoder.encode(tools), { mediaType: 'application/json', name: 'tools' }),
      toolNames: specs.map(({ name }) => name),
    })
    this.recorded = { model, system, tools }
  }
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((item, index) => item === b[index]))
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
