/** Bounds the text of a result on `tools/post-execute`; the whole text goes into a blob. */
import { messageOf } from '@sluice/base'
import type { ContentPart } from '@sluice/session'
import { type Call, type PassedOn, type PostVerdict, required, type ToolResult } from '@sluice/tools'
import type { Context } from 'cordis'
import z from 'schemastery'
import { cut } from './cut.ts'
import { lostNote, omittedNote } from './prompt.ts'

export const name = 'output-limit'
export const inject = ['tools', 'sessions']

export interface Config {
  charsMax: number
}

export const Config: z<Partial<Config>, Config> = z.object({
  charsMax: z.natural().min(100).default(30_000).description('Characters of a result that reach the model.'),
})

/** The texts of `content` as one, cut; what is no text stays. `undefined` when the texts fit. */
async function bounded(call: Call, content: readonly ContentPart[], charsMax: number) {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  if (texts.reduce((sum, text) => sum + text.length, 0) <= charsMax) return undefined
  const whole = texts.join('\n')
  const { head, tail, omitted } = cut(whole, charsMax)
  const text = head + (await noteOf(call, whole, omitted)) + tail
  return [{ type: 'text' as const, text }, ...content.filter((part) => part.type !== 'text')]
}

async function noteOf({ tool, id, session }: Call, whole: string, omitted: number): Promise<string> {
  try {
    const bytes = new TextEncoder().encode(whole)
    const { digest } = await session.putBlob(bytes, { mediaType: 'text/plain', name: `${tool} ${id}` })
    return omittedNote(omitted, digest)
  } catch (error) {
    return lostNote(omitted, messageOf(error))
  }
}

export const apply = required((ctx: Context, config: Config): void => {
  const limit = async (
    call: Call,
    _result: ToolResult,
    next: () => PassedOn | PromiseLike<PassedOn>,
  ): Promise<PostVerdict> => {
    const passed = await next()
    const content = await bounded(call, passed.result.content, config.charsMax)
    return content ? { kind: 'replace', content, keepValue: true } : passed
  }
  // Outermost, so that it bounds what every other listener left.
  ctx.on('tools/post-execute', limit, { order: -100 })
})
