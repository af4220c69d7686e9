/** Owns the words of code mode: the runtime port, limits, outcomes and modes. */
import type { Json } from '@sluice/base'
import type {} from 'cordis'

export interface CodeLimits {
  /** Time in which the program itself computes. */
  readonly activeMs: number
  /** Elapsed time, without the time in which a person is waited for. */
  readonly wallMs: number
  readonly memoryBytes: number
  readonly stackBytes: number
  /** Of console output. */
  readonly outputBytes: number
  readonly callsMax: number
  /** Of arguments and results that cross the border, in all. */
  readonly transferBytes: number
}

/** What a call of a binding came to. A rejection becomes a `ToolError` in the program. */
export type CodeReply =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false
      readonly code: string
      readonly tool: string
      readonly reason: string
      readonly executed: string
    }

export interface CodeRequest {
  /** Body of an async function, in TypeScript. */
  readonly program: string
  /** Names under `tools`, sorted. */
  readonly bindings: readonly string[]
  readonly limits: CodeLimits
  readonly signal: AbortSignal
  /** Makes one call. Called in submission order; never rejects. */
  call(binding: string, args: Json): Promise<CodeReply>
}

export type CodeFailureKind = 'exception' | 'timeout' | 'memory' | 'output' | 'abort' | 'crash'

export type CodeOutcome = (
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: CodeFailureKind; readonly message: string; readonly line?: number }
) & {
  /** Console lines, in order, within the limit. */
  readonly output: readonly string[]
  readonly calls: number
}

export interface CodeRun {
  readonly outcome: Promise<CodeOutcome>
  /** The wall clock stands still until as many {@link resume} calls followed. */
  pause(): void
  resume(): void
}

/** The port that a code runtime fills, provided as `ctx.codeRuntime`. `./contract` holds the cases it must pass. */
export interface CodeRuntime {
  readonly kind: string
  /** Each run has a fresh world. The outcome never rejects. */
  run(request: CodeRequest): CodeRun
}

/** `native`: tools only. `code`: only `run_code` can be called directly. `both`: tools and `run_code`. */
export type CodeModeKind = 'native' | 'code' | 'both'

/** `ctx.codeMode`. */
export interface CodeMode {
  /** Sets how an agent may call tools, for as long as the calling plugin is mounted. */
  set(agent: string, mode: CodeModeKind): () => Promise<void>
  modeOf(agent: string): CodeModeKind
  /** TypeScript declarations of what a program of this agent can call. Sorted; equal for equal tools. */
  declarations(agent?: string): string
}

declare module 'cordis' {
  interface Context {
    codeMode: CodeMode
    codeRuntime: CodeRuntime
  }
}
