/** Owns what the file tools return: the shapes that programs get and results are rendered from. */
import { type Static, Type } from 'typebox'

const notes = Type.Array(Type.String())

export const ReadValue = Type.Union([
  Type.Object({
    kind: Type.Literal('text'),
    path: Type.String(),
    from: Type.Integer(),
    lines: Type.Array(Type.String()),
    /** Absent when the end of the file was not reached. */
    total: Type.Optional(Type.Integer()),
    encoding: Type.String(),
    notes,
  }),
  Type.Object({
    kind: Type.Literal('image'),
    path: Type.String(),
    mediaType: Type.String(),
    blob: Type.Object({ digest: Type.String(), size: Type.Integer() }),
  }),
  Type.Object({ kind: Type.Literal('binary'), path: Type.String(), mediaType: Type.String(), notes }),
])
export type ReadValue = Static<typeof ReadValue>

export const ChangeValue = Type.Object({
  path: Type.String(),
  created: Type.Boolean(),
  linesAdded: Type.Integer(),
  linesRemoved: Type.Integer(),
  diff: Type.String(),
  notes,
})
export type ChangeValue = Static<typeof ChangeValue>

export const ListValue = Type.Object({
  path: Type.String(),
  entries: Type.Array(
    Type.Object({
      name: Type.String(),
      kind: Type.Union([
        Type.Literal('file'),
        Type.Literal('directory'),
        Type.Literal('symlink'),
        Type.Literal('other'),
      ]),
      size: Type.Optional(Type.Integer()),
    }),
  ),
  omitted: Type.Integer(),
})
export type ListValue = Static<typeof ListValue>
