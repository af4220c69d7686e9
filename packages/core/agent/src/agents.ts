/** Owns `ctx.agents`: the live agents and the sections of their system prompt. */
import type { World } from '@sluice/base'
import type { Listeners, TimeLimits } from '@sluice/listeners'
import type { Llm } from '@sluice/llm'
import type { Tools } from '@sluice/tools'
import { type Context, Service } from 'cordis'
import { LiveAgent } from './agent.ts'
import type { Limits } from './driver.ts'
import { agentErrors } from './errors.ts'
import { Inbox } from './inbox.ts'
import { RequestParts } from './request.ts'
import { Sections, type SectionText } from './sections.ts'
import type { Agent, AgentOptions, Agents } from './types.ts'

export interface AgentsParts {
  /** Context of this plugin: events are emitted and logged from it. */
  readonly home: Context
  readonly llm: Llm
  readonly tools: Tools
  readonly world: World
  readonly limits: Limits
  readonly listeners: Listeners
  readonly askLimits: TimeLimits
}

export class AgentsService implements Agents {
  /** Tells Cordis that `ctx` is the caller's context inside a method. */
  readonly [Service.tracker] = { associate: 'agents', property: 'ctx' }
  readonly ctx: Context
  private readonly parts: AgentsParts
  private readonly live = new Map<string, LiveAgent>()
  private readonly sections = new Sections()

  constructor(parts: AgentsParts) {
    this.ctx = parts.home
    this.parts = parts
  }

  create(options: AgentOptions): Agent {
    const { session, model, name = 'main' } = options
    this.assertFree(name, session)
    const { live, sections } = this
    const { home: ctx, limits: defaults, ...parts } = this.parts
    const limits = {
      ...defaults,
      ...(options.stepsMax !== undefined && { stepsMax: options.stepsMax }),
      ...(options.turnMsMax !== undefined && { turnMsMax: options.turnMsMax }),
      ...(options.tokensMax !== undefined && { tokensMax: options.tokensMax }),
    }
    const own = { inbox: new Inbox(), request: new RequestParts() }
    let release = () => {}
    const agent = new LiveAgent({ ctx, name, model, session, sections, limits, ...parts, ...own }, () => {
      live.delete(name)
      release()
    })
    const dispose = this.ctx.effect(
      () => {
        live.set(name, agent)
        return () => agent.close()
      },
      `ctx.agents.create(${JSON.stringify(name)})`,
    )
    release = () => void dispose()
    return agent
  }

  get(name: string): Agent | undefined {
    return this.live.get(name)
  }

  section(name: string, order: number, text: SectionText): () => void {
    const { ctx, sections } = this
    const owner = ctx.fiber.name
    const section = { name, order, owner, text }
    const dispose = ctx.effect(() => sections.add(section), `ctx.agents.section(${JSON.stringify(name)})`)
    return () => void dispose()
  }

  /** Ends every live agent; resolves when their turns are settled. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.live.values()].map((agent) => agent.close()))
  }

  private assertFree(name: string, session: AgentOptions['session']): void {
    if (!session.writable) throw agentErrors('AGENT_SESSION_READ_ONLY', { session: session.id })
    if (this.live.has(name)) throw agentErrors('AGENT_NAME_TAKEN', { name })
    for (const other of this.live.values()) {
      if (other.session === session) throw agentErrors('AGENT_SESSION_TAKEN', { session: session.id, name: other.name })
    }
  }
}
