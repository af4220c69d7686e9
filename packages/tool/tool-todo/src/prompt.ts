/** Owns every string of this package that a model reads. */
import type { TodoItem } from './types.ts'

export const description = [
  'Writes your todo list, whole, in the order of work. Use it for work of three steps or more: write the list when you have',
  'understood the task, mark an item as doing before you start it and as done as soon as it is done. At most one item is',
  'doing. An empty list clears it. The result restates the list.',
].join(' ')

export const parameterTexts = {
  items: 'The whole list; what is left out is gone.',
  text: 'What is to be done, as a short command.',
  status: 'pending, doing (at most one item) or done.',
}

const unchanged = 'The list is unchanged.'

export const emptyText = (position: number) => `Item ${position} has no text. ${unchanged}`

export const severalDoing = (positions: readonly number[]) =>
  `Items ${positions.join(', ')} are all marked as doing; at most one may be. ${unchanged}`

const marks: Record<TodoItem['status'], string> = { pending: '[ ]', doing: '[>]', done: '[x]' }

/** The list as the model reads it. */
export function listText(items: readonly TodoItem[]): string {
  if (items.length === 0) return 'The todo list is empty.'
  const done = items.filter((item) => item.status === 'done').length
  const lines = items.map((item) => `${marks[item.status]} ${item.text}`)
  return [`Todo list (${done} of ${items.length} done):`, ...lines].join('\n')
}

/** Stands in the system prompt when the result that showed the list has been compacted away. */
export const restated = (items: readonly TodoItem[]) =>
  `${listText(items)}\nThis is your list as you last wrote it. Go on with it.`
