/** Owns a mounted adapter for tests: the real network, with the real or the simulated clock. */
import type { Clock } from '@sluice/base'
import type { ModelRequest, StreamPart } from '@sluice/llm'
import { Context } from 'cordis'
import * as llm from '@sluice/llm'
import * as llmAiSdk from '@sluice/llm-ai-sdk'
import { worldPlugin } from '@sluice/testkit'
import { nodeWorld } from '@sluice/world-node'

export interface MountOptions {
  readonly clock?: Clock
  readonly env?: Record<string, string>
}

export async function mounted(config: Partial<llmAiSdk.Config>, options: MountOptions = {}) {
  const ctx = new Context()
  const node = nodeWorld()
  const clock = options.clock ?? node.clock
  await ctx.plugin(worldPlugin({ ...node, clock, host: { ...node.host, env: options.env ?? {} } }))
  await ctx.plugin(llm)
  const fiber = await ctx.plugin(llmAiSdk, { provider: 'p', ...config })
  return { ctx, fiber, stream: (request: Partial<ModelRequest> = {}) => ctx.llm.stream(requestOf(request)) }
}

export const requestOf = (given: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'p/model-1',
  system: 'Be brief.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  signal: new AbortController().signal,
  ...given,
})

export const tool = (name: string) => ({ name, description: '', parameters: { type: 'object', properties: {} } })

export async function collect(stream: AsyncIterable<StreamPart>, into: StreamPart[] = []): Promise<StreamPart[]> {
  for await (const part of stream) into.push(part)
  return into
}

export const textOf = (parts: readonly StreamPart[]) =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

export const callsOf = (parts: readonly StreamPart[]) => parts.filter((part) => part.type === 'tool-call')
