/** Owns the verdict on a call that names a path, before anybody is asked about it. */
import type { Fs } from '@sluice/fs'
import { isSluiceError } from '@sluice/base'
import type { Call, Verdict } from '@sluice/tools'
import { consentRule } from './consent.ts'
import type { Judge } from './judge.ts'

/** Denies what the files layer would refuse anyway, and asks for files that grant authority. */
export async function callVerdict(
  judge: Judge,
  fs: Fs,
  call: Call,
  next: () => Verdict | PromiseLike<Verdict>,
): Promise<Verdict> {
  const { path } = call.args
  if (typeof path !== 'string') return next()
  const target = await resolved(fs, path, call)
  if (!target) return next()
  const isChange = call.annotations.readOnly !== true
  const refusal =
    (target.exists || !isChange ? await judge.refusal(target, 'read', call.session) : undefined) ??
    (isChange ? await judge.refusal(target, 'write', call.session) : undefined)
  if (refusal) return { kind: 'deny', reason: refusal.reason, rule: refusal.code, remedy: refusal.remedy }
  const grant = isChange ? await judge.grants(target, call.session) : undefined
  return grant ? { kind: 'ask', reason: grant.reason, rule: consentRule(target) } : next()
}

/** A path that leads nowhere is left to the tool, which says what is wrong with it. */
async function resolved(fs: Fs, path: string, call: Call) {
  try {
    return await fs.resolve(path, call.session)
  } catch (error) {
    if (isSluiceError(error)) return undefined
    throw error
  }
}
