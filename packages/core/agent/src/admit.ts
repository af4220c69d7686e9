/** Owns how input enters the log: past the plugins that may replace or block it. */
import type { ContentPart } from '@sluice/session'
import type { Turn } from './driver.ts'
import { askPrompt } from './verdicts.ts'

/** Asks the plugins about a prompt and appends what they leave of it; the reason when they block it. */
export async function admit(turn: Turn, text: string, source: string): Promise<string | undefined> {
  const content = textContent(text)
  const { session } = turn
  const verdict = await askPrompt(turn, { agent: turn.name, session, content })
  if (verdict.kind === 'block') return verdict.reason
  session.append('user/message', { content: verdict.kind === 'replace' ? verdict.content : content, source })
  for (const context of verdict.contexts ?? []) {
    session.append('user/message', { content: textContent(context), source: 'submit-prompt' })
  }
  return undefined
}

export function textContent(text: string): readonly ContentPart[] {
  return [{ type: 'text', text }]
}
