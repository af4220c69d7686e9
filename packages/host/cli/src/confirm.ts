/** Owns asking a person before something is gone for ever. */
import { cliErrors } from './errors.ts'
import { EXIT } from './exit-code.ts'
import type { Terminal } from './terminal.ts'

export interface Consent {
  /** Given beforehand, with `--yes`. */
  readonly yes?: boolean
}

/** Does `work` when a person agrees to `question`, and says so when nothing was done.
 *  @throws CLI_NOT_CONFIRMED when nobody is there */
export async function confirmed(
  terminal: Terminal,
  question: string,
  { yes }: Consent,
  work: () => Promise<number>,
): Promise<number> {
  if (yes) return work()
  if (!terminal.interactive) throw cliErrors('CLI_NOT_CONFIRMED', { question })
  const line = await terminal.readAnswer(`${question} [y/N] `)
  if (/^(y|yes)$/i.test(line?.trim() ?? '')) return work()
  terminal.writeError('nothing was done\n')
  return EXIT.failed
}
