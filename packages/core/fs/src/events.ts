/** Owns the session events of files. */
import type { EventTable } from '@sluice/session'
import { Type } from 'typebox'

const version = Type.Object({ digest: Type.String(), size: Type.Integer({ minimum: 0 }) })

export const fsLogEvents = {
  'fs/observed': {
    version: 1,
    meaning: 'The session has seen a file, or a part of it, in one version.',
    schema: Type.Object({
      path: Type.String(),
      key: Type.String(),
      version,
      ranges: Type.Optional(
        Type.Array(Type.Object({ from: Type.Integer({ minimum: 1 }), to: Type.Integer({ minimum: 1 }) })),
      ),
      linesTotal: Type.Optional(Type.Integer({ minimum: 0 })),
      how: Type.Union([Type.Literal('read'), Type.Literal('write'), Type.Literal('edit')]),
    }),
  },
  'fs/changed': {
    version: 1,
    meaning:
      'A call has created, changed or removed a file, or taken such a change back; the bytes from before are in a blob.',
    schema: Type.Object({
      callId: Type.String(),
      undoes: Type.Optional(Type.String()),
      path: Type.String(),
      key: Type.String(),
      before: Type.Optional(version),
      after: Type.Optional(version),
      beforeBlob: Type.Optional(version),
    }),
  },
} satisfies EventTable
