/** Owns failures inside a stage: who failed, how, and under which code. */
import { isSluiceError, messageOf } from '@sluice/base'
import type { Detour } from '@sluice/pipeline'

/** Thrown to the executor; the rescue stage makes a result of it. */
export class StageFailure extends Error {
  readonly detour: Detour
  /** `name#uid` of the plugin, or the name of the part that failed. */
  readonly by: string
  readonly code: string

  constructor(detour: Detour, by: string, code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.detour = detour
    this.by = by
    this.code = code
  }
}

/** A thrown value as the failure of `by`. A failure that already has an owner keeps it. */
export function failureOf(thrown: unknown, by: string): StageFailure {
  if (thrown instanceof StageFailure) return thrown
  return new StageFailure('threw', by, codeOf(thrown, 'TOOLS_LISTENER_FAILED'), messageOf(thrown), thrown)
}

/** The code of an expected failure, whatever was thrown. */
export function codeOf(thrown: unknown, otherwise: string): string {
  try {
    const code: unknown = isSluiceError(thrown) ? thrown.code : otherwise
    return typeof code === 'string' ? code.toWellFormed() : otherwise
  } catch {
    return otherwise
  }
}
