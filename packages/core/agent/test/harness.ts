/** Owns mounting an agent on a simulated World, a memory store and a scripted model. */
import type { JsonObject } from '@sluice/base'
import * as llmPlugin from '@sluice/llm'
import * as sessionPlugin from '@sluice/session'
import { type KnownEvent, memoryStorePlugin, type Session, type SessionStore } from '@sluice/session'
import {
  assertPaired,
  type FileSeed,
  type ScriptedModel,
  type ScriptedStep,
  type SimWorld,
  scriptedModel,
  simWorld,
  worldPlugin,
} from '@sluice/testkit'
import * as toolsPlugin from '@sluice/tools'
import type { ToolDefinition } from '@sluice/tools'
import { Context } from 'cordis'
import { expect } from 'vitest'
import * as agentPlugin from '../src/index.ts'
import type { Agent, AgentOptions } from '../src/index.ts'

export interface MountOptions {
  readonly files?: Readonly<Record<string, FileSeed>>
  readonly config?: Partial<agentPlugin.Config>
  readonly agent?: Partial<AgentOptions>
  readonly tools?: readonly ToolDefinition[]
  readonly cwd?: string
  readonly store?: SessionStore
}

export interface Mounted {
  readonly ctx: Context
  readonly world: SimWorld
  readonly model: ScriptedModel
  readonly session: Session
  readonly agent: Agent
  /** Event types of the session, those about blobs left out. */
  types(): string[]
  /** All events of one type. */
  events<T extends KnownEvent['type']>(type: T): Extract<KnownEvent, { type: T }>[]
}

export async function mount(steps: readonly ScriptedStep[], options: MountOptions = {}): Promise<Mounted> {
  const ctx = new Context()
  const world = simWorld({ files: options.files ?? {} })
  await ctx.plugin(worldPlugin(world))
  const { store } = options
  await ctx.plugin(
    store ? { name: 'store', apply: (own: Context) => void own.provide('sessionStore', store) } : memoryStorePlugin,
  )
  await ctx.plugin(sessionPlugin)
  await ctx.plugin(llmPlugin)
  await ctx.plugin(toolsPlugin, { otherwise: 'allow' })
  await ctx.plugin(agentPlugin, options.config ?? {})
  for (const definition of options.tools ?? []) ctx.tools.register(definition)
  const model = scriptedModel(steps)
  ctx.llm.register('sim', model)
  const session = await ctx.sessions.create({ cwd: options.cwd ?? '/proj' })
  const agent = ctx.agents.create({ session, model: 'sim/one', ...options.agent })
  const known = () => session.events as readonly KnownEvent[]
  return {
    ctx,
    world,
    model,
    session,
    agent,
    types: () => known().flatMap(({ type }) => (type === 'blob/stored' ? [] : [type])),
    events: <T extends KnownEvent['type']>(type: T) =>
      known().filter((event): event is Extract<KnownEvent, { type: T }> => event.type === type),
  }
}

/** A tool that does what `body` says. */
export function tool(
  name: string,
  body: (args: JsonObject) => unknown,
  more: Partial<ToolDefinition> = {},
): ToolDefinition {
  return { name, description: `Test tool ${name}.`, parameters: { type: 'object' }, execute: body, ...more }
}

/** Nothing is owed: turns, steps and calls are closed, each call has one result, a strict provider accepts the history. */
export function expectSettled(session: Session): void {
  const events = session.events as readonly KnownEvent[]
  const open = (begin: string, end: string) =>
    events.filter(({ type }) => type === begin).length - events.filter(({ type }) => type === end).length
  expect(open('turn/started', 'turn/ended')).toBe(0)
  expect(open('step/started', 'step/ended')).toBe(0)
  const called = events.flatMap((event) =>
    event.type === 'assistant/message'
      ? event.data.content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
      : [],
  )
  const answered = events.flatMap((event) => (event.type === 'tool/result' ? [event.data.callId] : []))
  expect(answered.toSorted()).toEqual(called.toSorted())
  expect(new Set(called).size).toBe(called.length)
  assertPaired(session.messages())
}

/** The history as one line per message. */
export function lines(session: Session): string[] {
  return session.messages().map((message) => {
    const text = message.content.map((part) =>
      part.type === 'tool-call' ? `call ${part.id}` : 'text' in part ? part.text : part.type,
    )
    return `${message.role === 'tool' ? `result ${message.callId}` : message.role}: ${text.join(' ')}`
  })
}
