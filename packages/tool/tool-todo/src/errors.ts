/** Owns the failures of todo lists. */
import { defineErrors } from '@sluice/base'
import { emptyText, severalDoing } from './prompt.ts'

export const todoErrors = defineErrors({
  TODO_TEXT_EMPTY: {
    when: 'an item has no text but white space',
    message: (d: { position: number }) => emptyText(d.position),
    remedy: 'Give each item a text.',
  },
  TODO_SEVERAL_DOING: {
    when: 'more than one item is being done',
    message: (d: { positions: readonly number[] }) => severalDoing(d.positions),
    remedy: 'Mark one item as doing.',
  },
})
