/** Owns the session events of todo lists. */
import type { EventTable } from '@sluice/session'
import { Type } from 'typebox'
import { itemSchema } from './schema.ts'

export const todoEvents: EventTable = {
  'todo/write': {
    version: 1,
    meaning: 'The model wrote its todo list anew; the last one is the state.',
    schema: Type.Object({ callId: Type.String(), items: Type.Array(itemSchema) }),
  },
}
