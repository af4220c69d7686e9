/** Owns the arguments of the file tools. */
import { type Static, Type } from 'typebox'
import { editPrompt, listPrompt, readPrompt, writePrompt } from './prompt.ts'

/** Replacements in one call. */
export const EDITS_MAX = 100
/** Lines that may be asked for at once; what fits is less when they are long. */
export const LIMIT_MAX = 10_000

const closed = { additionalProperties: false }
const path = (description: string) => Type.String({ minLength: 1, description })

export const ReadArgs = Type.Object(
  {
    path: path(readPrompt.path),
    offset: Type.Optional(Type.Integer({ minimum: 1, description: readPrompt.offset })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: readPrompt.limit })),
  },
  closed,
)
export type ReadArgs = Static<typeof ReadArgs>

export const WriteArgs = Type.Object(
  {
    path: path(writePrompt.path),
    content: Type.String({ description: writePrompt.content }),
    breakHardLink: Type.Optional(Type.Boolean({ description: writePrompt.breakHardLink })),
  },
  closed,
)
export type WriteArgs = Static<typeof WriteArgs>

export const EditArgs = Type.Object(
  {
    path: path(editPrompt.path),
    edits: Type.Array(
      Type.Object(
        {
          oldText: Type.String({ description: editPrompt.oldText }),
          newText: Type.String({ description: editPrompt.newText }),
          replaceAll: Type.Optional(Type.Boolean({ description: editPrompt.replaceAll })),
        },
        closed,
      ),
      { minItems: 1, maxItems: EDITS_MAX, description: editPrompt.edits },
    ),
    breakHardLink: Type.Optional(Type.Boolean({ description: editPrompt.breakHardLink })),
  },
  closed,
)
export type EditArgs = Static<typeof EditArgs>

export const ListArgs = Type.Object({ path: Type.Optional(path(listPrompt.path)) }, closed)
export type ListArgs = Static<typeof ListArgs>
