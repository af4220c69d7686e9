/** Owns failures of plugins: whose it was, how, and under which code. */
import { isSluiceError, messageOf } from '@sluice/base'
import { listenerErrors } from './errors.ts'

/** Something that a plugin was asked for and did not give. */
export class PluginFailure extends Error {
  readonly how: 'threw' | 'expired' | 'aborted'
  /** `name#uid` of the plugin, or the name of the part that failed. */
  readonly by: string
  readonly code: string

  constructor(
    how: PluginFailure['how'],
    by: string,
    { code, message }: { readonly code: string; readonly message: string },
  ) {
    super(message.toWellFormed())
    this.how = how
    this.by = by
    this.code = code
  }
}

/** A thrown value as the failure of `by`. A failure that already has an owner keeps it. */
export function failureOf(thrown: unknown, by: string): PluginFailure {
  if (isOwned(thrown)) return thrown
  return new PluginFailure('threw', by, { code: codeOf(thrown, 'LISTENER_FAILED'), message: messageOf(thrown) })
}

/** Whatever is thrown may be a proxy that throws when it is looked at. */
function isOwned(thrown: unknown): thrown is PluginFailure {
  try {
    return thrown instanceof PluginFailure
  } catch {
    return false
  }
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

/** Disposed code is never called, and what it still answers does not count. */
export function goneFailure(event: string, by: string): PluginFailure {
  return new PluginFailure('threw', by, listenerErrors('LISTENER_GONE', { event }))
}

export function abortedFailure(by: string): PluginFailure {
  return new PluginFailure('aborted', by, { code: 'aborted', message: 'aborted' })
}

export function abandonedFailure(by: string, ms: number): PluginFailure {
  return new PluginFailure('expired', by, listenerErrors('LISTENER_ABANDONED', { ms }))
}
