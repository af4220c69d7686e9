/** Owns the todo_write tool. */
import type { Card, ToolDefinition } from '@sluice/tools'
import { todoErrors } from './errors.ts'
import { description, listText } from './prompt.ts'
import { parameters } from './schema.ts'
import { todoFold } from './state.ts'
import type { TodoItem } from './types.ts'

interface Args {
  readonly items: readonly TodoItem[]
}

/** Takes what a list is made of and drops the rest.
 *  @throws TODO_TEXT_EMPTY, TODO_SEVERAL_DOING */
function checked(items: readonly TodoItem[]): TodoItem[] {
  const clean = items.map(({ text, status }) => ({ text: text.trim(), status }))
  const empty = clean.findIndex((item) => item.text === '')
  if (empty >= 0) throw todoErrors('TODO_TEXT_EMPTY', { position: empty + 1 })
  const positions = clean.flatMap((item, index) => (item.status === 'doing' ? [index + 1] : []))
  if (positions.length > 1) throw todoErrors('TODO_SEVERAL_DOING', { positions })
  return clean
}

function card({ items }: Args): Card {
  const done = items.filter((item) => item.status === 'done').length
  const shown = items.map(({ text, status }) => ({ text, status }))
  return { v: 1, kind: 'todo', title: `Todo list: ${done} of ${items.length} done`, items: shown }
}

export const todoWrite: ToolDefinition<Args> = {
  name: 'todo_write',
  description,
  parameters,
  aliases: ['TodoWrite'],
  // It changes the session log alone, so nobody is asked about it.
  annotations: { readOnly: true, idempotent: true },
  execute({ items }, { session, callId }) {
    session.append('todo/write', { callId, items: checked(items) })
    return { items: session.fold(todoFold).items }
  },
  render: (value) => listText((value as unknown as Args).items),
  presentCall: card,
  presentResult: (_, { value }) => card(value as unknown as Args),
}
