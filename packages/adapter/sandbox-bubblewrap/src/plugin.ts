/** Owns mounting bubblewrap as the sandbox. */
import type { SandboxAdapter } from '@sluice/sandbox'
import type { Context } from 'cordis'
import z from 'schemastery'
import { checkBubblewrap } from './check.ts'
import { Scratch } from './scratch.ts'
import { startConfined } from './start.ts'
import { Turns } from './turns.ts'

export const name = 'sandbox-bubblewrap'
export const inject = ['sandbox', 'world']

export interface Config {
  programFolders: string[]
}

export const Config: z<Partial<Config>, Config> = z.object({
  // Not those of PATH: it may name folders that a confined process has written to.
  programFolders: z
    .array(z.string())
    .default(['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'])
    .description('Folders in which bwrap and socat are looked for.'),
})

export function apply(ctx: Context, { programFolders }: Config): void {
  const { world } = ctx
  const scratch = new Scratch(world)
  ctx.effect(() => () => scratch.dispose(), 'temporary files')
  const parts = { world, programFolders, scratch, turns: new Turns() }
  const adapter: SandboxAdapter = {
    name: 'bubblewrap',
    check: () => checkBubblewrap(world, programFolders),
    spawn: (options, confinement) => startConfined(parts, options, confinement),
  }
  ctx.sandbox.adapter(adapter)
}
