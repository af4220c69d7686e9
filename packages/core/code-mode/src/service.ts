/** Owns `ctx.codeMode`: how each agent may call tools, and what its programs can use. */
import type { Disposer, Tools } from '@sluice/tools'
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
  }

  /** @throws CODE_MODE_TAKEN */
  set(agent: string, mode: CodeModeKind): Disposer {
    const { ctx, modes } = this
    if (modes.has(agent)) throw codeModeErrors('CODE_MODE_TAKEN', { agent })
    return ctx.effect(
      function* () {
        modes.set(agent, mode)
        yield () => modes.delete(agent)
        if (mode === 'native') yield ctx.tools.restrict(agent, { deny: [runCodeName] })
        if (mode === 'code') yield ctx.tools.restrict(agent, { allow: [runCodeName], reach: 'direct' })
      },
      `ctx.codeMode.set(${JSON.stringify(agent)})`,
    )
  }

  modeOf(agent: string): CodeModeKind {
    for (let name = agent; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('/')))) {
      const mode = this.modes.get(name)
      if (mode) return mode
    }
    return this.fallback
  }

  declarations(agent?: string): string {
    return declarationsOf(this.tools.visible(agent, 'nested'))
  }

  /** Text for the system prompt of `agent`; empty where it has no run_code. */
  section(agent: string): string {
    return this.modeOf(agent) === 'native' ? '' : sectionText(this.declarations(agent))
  }
}
