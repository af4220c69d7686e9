/** Owns the parameters of the search tools. */
import { type Static, Type } from 'typebox'
import { parameterTexts as texts } from './prompt.ts'

export const LIMIT_DEFAULT = 100
export const LIMIT_MAX = 1000
export const CONTEXT_MAX = 20
const PATTERN_CHARS_MAX = 10_000

/** The platform passes no zero bytes to a program. */
const pattern = (description: string) =>
  Type.String({ minLength: 1, maxLength: PATTERN_CHARS_MAX, pattern: '^[^\\u0000]*$', description })
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: `${texts.limit} Default: ${LIMIT_DEFAULT}.` }),
)

export const GlobArgs = Type.Object({
  pattern: pattern(texts.globPattern),
  path: Type.Optional(Type.String({ description: texts.globPath })),
  limit,
  includeIgnored: flag(texts.includeIgnored),
})
export type GlobArgs = Static<typeof GlobArgs>

export const GrepArgs = Type.Object({
  pattern: pattern(texts.grepPattern),
  path: Type.Optional(Type.String({ description: texts.grepPath })),
  glob: Type.Optional(pattern(texts.glob)),
  literal: flag(texts.literal),
  ignoreCase: flag(texts.ignoreCase),
  multiline: flag(texts.multiline),
  output: Type.Optional(Type.Enum(['content', 'files', 'count'], { type: 'string', description: texts.output })),
  context: Type.Optional(Type.Integer({ minimum: 0, maximum: CONTEXT_MAX, description: texts.context })),
  limit,
  includeIgnored: flag(texts.includeIgnored),
})
export type GrepArgs = Static<typeof GrepArgs>
