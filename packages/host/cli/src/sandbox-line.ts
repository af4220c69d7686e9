/** Owns saying which sandbox is in force. */
import type {} from '@sluice/sandbox'
import type { Context } from 'cordis'
import { printableLine } from './printable.ts'

const CHARS_MAX = 300

/** One line: what confines the processes of this run, or that nothing does and why. */
export async function sandboxLine(ctx: Context): Promise<string> {
  const said = (await ctx.get('sandbox')?.describe()) ?? 'none: the composition mounts no @sluice/sandbox'
  return `sandbox: ${printableLine(said, CHARS_MAX)}\n`
}
