/** Owns what a list may hold. */
import { Type } from 'typebox'
import { parameterTexts } from './prompt.ts'

export const ITEMS_MAX = 100
export const TEXT_MAX = 500

export const itemSchema = Type.Object({
  text: Type.String({ minLength: 1, maxLength: TEXT_MAX, description: parameterTexts.text }),
  status: Type.Enum(['pending', 'doing', 'done'], { type: 'string', description: parameterTexts.status }),
})

export const parameters = Type.Object({
  items: Type.Array(itemSchema, { maxItems: ITEMS_MAX, description: parameterTexts.items }),
})
