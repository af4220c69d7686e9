/** Listens on `tools/pre-execute` and asks where a call would start a process that the sandbox does not hold. */
import { wantsOf } from '@sluice/sandbox'
import { bare, type Call, required, type Verdict } from '@sluice/tools'
import type { Context } from 'cordis'

export const name = 'sandbox-policy'
export const inject = ['sandbox', 'tools']

export const apply = required((ctx: Context): void => {
  const { sandbox } = ctx
  ctx.on(
    'tools/pre-execute',
    bare(async (call: Call, next: () => Verdict | PromiseLike<Verdict>): Promise<Verdict> => {
      if (!call.annotations.startsProcesses) return next()
      const judgement = await sandbox.judge(wantsOf(call.args))
      switch (judgement.kind) {
        case 'within':
          return next()
        case 'ask':
          return { kind: 'ask', reason: judgement.reason, rule: judgement.rule }
        case 'refuse':
          return { kind: 'deny', reason: judgement.reason, remedy: judgement.remedy }
      }
    }),
  )
})
