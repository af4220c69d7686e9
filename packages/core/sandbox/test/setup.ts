/** Owns the sandbox as tests mount it: with an adapter that only notes what it was asked to hold. */
import * as approvalPlugin from '@sluice/approval'
import type { Answer } from '@sluice/approval'
import type { Child, SpawnOptions } from '@sluice/base'
import * as sandbox from '@sluice/sandbox'
import type { AdapterState, Confinement, SandboxAdapter, Wants } from '@sluice/sandbox'
import * as sessionPlugin from '@sluice/session'
import { memoryStorePlugin } from '@sluice/session'
import { type FileSeed, simWorld, worldPlugin } from '@sluice/testkit'
import * as toolsPlugin from '@sluice/tools'
import { Context } from 'cordis'

export type Config = Parameters<typeof sandbox.Config>[0]

export const options: SpawnOptions = { file: 'bash', args: ['-c', 'true'], cwd: '/proj', env: {} }

export interface Setup {
  readonly config?: Config
  readonly files?: Record<string, FileSeed>
  /** What the check of the adapter says; without it no adapter is mounted. */
  readonly state?: AdapterState
  readonly answer?: Answer['kind']
}

export async function setup({ config = {}, files = { '/proj/a': 'a' }, state, answer }: Setup = {}) {
  const world = simWorld({ files, autoAdvance: true })
  world.processes.on('bash', () => ({}))
  const ctx = new Context()
  for (const plugin of [worldPlugin(world), memoryStorePlugin, sessionPlugin]) await ctx.plugin(plugin)
  await ctx.plugin(toolsPlugin, { otherwise: 'allow' })
  await ctx.plugin(approvalPlugin)
  await ctx.plugin(sandbox, config)
  if (answer) ctx.approval.answerer('person', ({ callId }) => ({ callId, kind: answer }) as Answer)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  const held: Confinement[] = []
  const adapter: SandboxAdapter = {
    name: 'walls',
    check: () => (state ? Promise.resolve(state) : Promise.reject(new Error('no wall stands'))),
    async spawn(given, confinement): Promise<Child> {
      held.push(confinement)
      return world.processes.spawn(given)
    },
  }
  const mount = () =>
    ctx.plugin({ name: 'walls', inject: ['sandbox'], apply: (own: Context) => void own.sandbox.adapter(adapter) })
  const fiber = state && (await mount())
  /** Starts on behalf of a call that was asked about with the rules, if any. */
  let calls = 0
  const start = async (wants: Wants = {}, rules: readonly string[] = []) => {
    const callId = `c${++calls}`
    if (rules.length > 0) {
      const call = { id: callId, session, signal: new AbortController().signal } as never
      const asks = rules.map((rule) => ({ by: 'test', reason: 'test', rule }))
      await ctx.approval.ask({ call, card: { v: 1, kind: 'generic', title: 't' }, asks })
    }
    return ctx.sandbox.spawn(options, { session, callId, wants })
  }
  return { ctx, world, session, held, mount, fiber, start }
}

export const available: AdapterState = { available: true, detail: 'walls 1.0' }
export const missing: AdapterState = { available: false, why: 'walls are not installed', remedy: 'Install walls.' }
