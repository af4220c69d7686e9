import { codeContract } from '@sluice/code-mode/contract'
import * as quickjs from '@sluice/code-quickjs'
import { runContract } from '@sluice/testkit'
import { Context } from 'cordis'
import { afterAll, beforeAll, describe, it } from 'vitest'

// One runtime for all cases: what a probe leaves behind would show in the next.
const ctx = new Context()
beforeAll(async () => {
  await ctx.plugin(quickjs, {})
})
afterAll(() => ctx.fiber.dispose())

runContract(codeContract, () => ctx.codeRuntime, { it, describe }, { title: 'QuickJS as code runtime' })
