/** Owns the bench of this package's tests: tools, approval, agents and a real code runtime on a simulated World. */
import * as agentPlugin from '@sluice/agent'
import * as approvalPlugin from '@sluice/approval'
import * as codeMode from '@sluice/code-mode'
import * as quickjs from '@sluice/code-quickjs'
import * as llmPlugin from '@sluice/llm'
import * as sessionPlugin from '@sluice/session'
import { memoryStorePlugin, type SessionEvent, type ToolResultData } from '@sluice/session'
import { simWorld, worldPlugin } from '@sluice/testkit'
import * as toolsPlugin from '@sluice/tools'
import type { ToolDefinition } from '@sluice/tools'
import { Context } from 'cordis'

export async function makeBench(config: Partial<codeMode.Config> = {}, otherwise: 'allow' | 'ask' = 'allow') {
  const ctx = new Context()
  await ctx.plugin(worldPlugin(simWorld()))
  await ctx.plugin(memoryStorePlugin)
  await ctx.plugin(sessionPlugin)
  await ctx.plugin(llmPlugin)
  await ctx.plugin(toolsPlugin, { otherwise })
  await ctx.plugin(approvalPlugin)
  await ctx.plugin(agentPlugin)
  await ctx.plugin(quickjs)
  const fiber = await ctx.plugin(codeMode, config)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  let count = 0
  const program = (text: string, options: { agent?: string; signal?: AbortSignal } = {}) =>
    ctx.tools.execute({
      session,
      call: { id: `c${++count}`, tool: 'run_code', arguments: { program: text } },
      ...options,
    })
  const plugin = (name: string, apply: (own: Context) => void) => ctx.plugin({ name, inject: ['tools'], apply })
  const tool = (definition: Partial<ToolDefinition> & Pick<ToolDefinition, 'name' | 'execute'>) =>
    plugin(`tool-${definition.name}`, (own) => {
      own.tools.register({ description: 'A tool.', parameters: { type: 'object' }, overlap: 'parallel', ...definition })
    })
  const dispatches = () =>
    session.events
      .filter((event: SessionEvent) => event.type === 'tool/code-dispatch')
      .map(
        (event) => event.data as unknown as { callId: string; parent: string; phase: string; result?: ToolResultData },
      )
  return { ctx, fiber, session, program, plugin, tool, dispatches }
}

/** What the program of a settled call returned. */
export function valueOf(settled: { readonly result: { readonly value?: unknown } }): unknown {
  return (settled.result.value as { value: unknown } | undefined)?.value
}
