/** Bounds the text of a result on `tools/post-execute`; the whole text goes into a blob. */
import type { ContentPart, Session } from '@sluice/session'
import type { Call, PassedOn, PostVerdict, ToolResult } from '@sluice/tools'
import type { Context } from 'cordis'
import z from 'schemastery'
import { cut } from './cut.ts'
import { omittedNote } from './prompt.ts'

export const name = 'output-limit'
export const inject = ['tools', 'sessions']

export interface Config {
  charsMax: number
}

export const Config: z<Partial<Config>, Config> = z.object({
  charsMax: z.natural().min(100).default(30_000).description('Characters of one text part that reach the model.'),
})

async function bounded(part: ContentPart, charsMax: number, session: Session, call: Call): Promise<ContentPart> {
  if (part.type !== 'text') return part
  const kept = cut(part.text, charsMax)
  if (!kept) return part
  const bytes = new TextEncoder().encode(part.text)
  const { digest } = await session.putBlob(bytes, { mediaType: 'text/plain', name: `${call.tool} ${call.id}` })
  return { type: 'text', text: kept.head + omittedNote(kept.omitted, digest) + kept.tail }
}

export function apply(ctx: Context, config: Config): void {
  const limit = async (
    call: Call,
    _result: ToolResult,
    next: () => PassedOn | PromiseLike<PassedOn>,
  ): Promise<PostVerdict> => {
    const passed = await next()
    const { content } = passed.result
    if (!content.some((part) => part.type === 'text' && part.text.length > config.charsMax)) return passed
    const parts: ContentPart[] = []
    for (const part of content) parts.push(await bounded(part, config.charsMax, call.session, call))
    return { kind: 'replace', content: parts, keepValue: true }
  }
  // Outermost, so that it bounds what every other listener left.
  ctx.on('tools/post-execute', limit, { order: -100 })
}
