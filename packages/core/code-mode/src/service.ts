/** Owns `ctx.codeMode`: how each agent may call tools, and what its programs can use. */
import type { Disposer, ToolFilter, Tools } from '@sluice/tools'
import { type Context, Service } from 'cordis'
import { declarationsOf } from './declarations.ts'
import { codeModeErrors } from './errors.ts'
import { sectionText } from './prompt.ts'
import { runCodeName } from './tool.ts'
import type { CodeMode, CodeModeKind } from './types.ts'

export class CodeModeService extends Service implements CodeMode {
  private readonly modes = new Map<string, CodeModeKind>()
  private readonly tools: Tools
  private readonly fallback: CodeModeKind

  constructor(ctx: Context, fallback: CodeModeKind) {
    super(ctx, 'codeMode')
    this.tools = ctx.tools
    this.fallback = fallback
    ctx.tools.filter(this.filterOf(undefined, fallback))
  }

  /** @throws CODE_MODE_TAKEN */
  set(agent: string, mode: CodeModeKind): Disposer {
    const { ctx, modes } = this
    const filter = this.filterOf(agent, mode)
    if (modes.has(agent)) throw codeModeErrors('CODE_MODE_TAKEN', { agent })
    return ctx.effect(
      function* () {
        // Ended last: then everything is asked anew.
        yield ctx.tools.filter(filter)
        modes.set(agent, mode)
        yield () => modes.delete(agent)
      },
      `ctx.codeMode.set(${JSON.stringify(agent)})`,
    )
  }

  modeOf(agent: string): CodeModeKind {
    return this.modes.get(this.setFor(agent) ?? '') ?? this.fallback
  }

  declarations(agent?: string): string {
    return declarationsOf(this.tools.visible(agent, 'nested'))
  }

  /** Text for the system prompt of `agent`; empty where it has no run_code. */
  section(agent: string): string {
    const runs = this.tools.visible(agent).some(({ name }) => name === runCodeName)
    return runs ? sectionText(this.declarations(agent)) : ''
  }

  /** The agent whose mode counts for `agent`: itself, or the nearest above it that has one. */
  private setFor(agent: string): string | undefined {
    const names = agent.split('/').map((_, i, parts) => parts.slice(0, i + 1).join('/'))
    return names.findLast((name) => this.modes.has(name))
  }

  /** Hides what `mode` hides from those for whom the mode of `owner` counts. Without an agent there is no mode. */
  private filterOf(owner: string | undefined, mode: CodeModeKind): ToolFilter {
    return (tool, agent, reach) => {
      if (agent === undefined || this.setFor(agent) !== owner) return true
      if (mode === 'native') return tool !== runCodeName
      return mode === 'both' || reach === 'nested' || tool === runCodeName
    }
  }
}
