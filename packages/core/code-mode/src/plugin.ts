/** Mounts the run_code tool, its section of the system prompt, and `ctx.codeMode`. */
import type { Session } from '@sluice/session'
import type { Context } from 'cordis'
import z from 'schemastery'
import { CodeModeService } from './service.ts'
import { runCodeTool } from './tool.ts'
import type { CodeLimits, CodeModeKind } from './types.ts'

export const name = 'code-mode'
export const inject = ['tools', 'codeRuntime']
export const provide = 'codeMode'

/** What is used of `ctx.agents`. */
interface PromptSections {
  section(name: string, order: number, text: (session: Session, agent: string) => string): unknown
}

/** Place among the sections of the system prompt. */
const SECTION_ORDER = 500

export interface Config extends CodeLimits {
  mode: CodeModeKind
}

const limit = (value: number, text: string) => z.natural().min(1).default(value).description(text)

export const Config: z<Partial<Config>, Config> = z.object({
  mode: z
    .union(['native', 'code', 'both'] as const)
    .default('both')
    .description('Mode of agents for which no plugin sets one.'),
  activeMs: limit(5_000, 'Time in which a program itself computes.'),
  wallMs: limit(300_000, 'Elapsed time of a program, without waits for a person.'),
  memoryBytes: limit(64 * 1024 * 1024, 'Memory of a program.'),
  stackBytes: limit(256 * 1024, 'Stack of a program.'),
  outputBytes: limit(64 * 1024, 'Console output of a program.'),
  callsMax: limit(10_000, 'Calls that a program makes.'),
  transferBytes: limit(64 * 1024 * 1024, 'Arguments and results that cross the border of a program.'),
})

export function apply(ctx: Context, config: Config): void {
  const { mode, ...limits } = config
  const service = new CodeModeService(ctx, mode)
  ctx.tools.register(runCodeTool(ctx.tools, ctx.codeRuntime, limits))
  // Without agents there is no system prompt. They stand above this package, so only the one method is known here.
  ctx.inject(['agents'], (inner) => {
    const agents = inner.get('agents' as string) as PromptSections
    agents.section('code-mode', SECTION_ORDER, (_session, agent) => service.section(agent))
  })
}
