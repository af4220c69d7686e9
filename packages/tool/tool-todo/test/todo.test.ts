import * as agent from '@sluice/agent'
import * as llm from '@sluice/llm'
import * as session from '@sluice/session'
import { memoryStorePlugin, type Session } from '@sluice/session'
import { scriptedModel, simWorld, worldPlugin } from '@sluice/testkit'
import * as todo from '@sluice/tool-todo'
import { ITEMS_MAX, TEXT_MAX, todoFold } from '@sluice/tool-todo'
import * as tools from '@sluice/tools'
import { Context } from 'cordis'
import { afterEach, beforeEach, expect, test } from 'vitest'

let ctx: Context
let own: Session
beforeEach(async () => {
  ctx = new Context()
  await ctx.plugin(worldPlugin(simWorld({ autoAdvance: true })))
  for (const plugin of [memoryStorePlugin, session]) await ctx.plugin(plugin)
  await ctx.plugin(tools, { otherwise: 'allow' })
  await ctx.plugin(todo)
  own = await ctx.sessions.create({ cwd: '/proj' })
})
afterEach(() => ctx.fiber.dispose())

let calls = 0
const write = (items: unknown, session = own) =>
  ctx.tools.execute({ session, call: { id: `c${++calls}`, tool: 'todo_write', arguments: { items } as never } })
const item = (text: string, status: string) => ({ text, status })
const text = (settled: Awaited<ReturnType<typeof write>>) =>
  settled.result.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
const listOf = (session: Session) => session.fold(todoFold).items

const list = [item('A', 'done'), item('B', 'doing'), item('C', 'pending')]

test('the result restates the list, and the card shows it', async () => {
  const settled = await write(list)
  expect(text(settled)).toBe('Todo list (1 of 3 done):\n[x] A\n[>] B\n[ ] C')
  expect(settled.data.card).toEqual({ v: 1, kind: 'todo', title: 'Todo list: 1 of 3 done', items: list })
  expect(own.events.find((event) => event.type === 'tool/call')?.data).toMatchObject({
    readOnly: true,
    card: { kind: 'todo', items: list },
  })
})

test('what the model reads of the tool is this', () => {
  const [info] = ctx.tools.visible()
  expect(info?.description).toMatchInlineSnapshot(
    `"Writes your todo list, whole, in the order of work. Use it for work of three steps or more: write the list when you have understood the task, mark an item as doing before you start it and as done as soon as it is done. At most one item is doing. An empty list clears it. The result restates the list."`,
  )
  expect(info?.parameters).toMatchInlineSnapshot(`
    {
      "properties": {
        "items": {
          "description": "The whole list; what is left out is gone.",
          "items": {
            "properties": {
              "status": {
                "description": "pending, doing (at most one item) or done.",
                "enum": [
                  "pending",
                  "doing",
                  "done",
                ],
                "type": "string",
              },
              "text": {
                "description": "What is to be done, as a short command.",
                "maxLength": 500,
                "minLength": 1,
                "type": "string",
              },
            },
            "required": [
              "text",
              "status",
            ],
            "type": "object",
          },
          "maxItems": 100,
          "type": "array",
        },
      },
      "required": [
        "items",
      ],
      "type": "object",
    }
  `)
})

// BUG-089
test('the list is a fold of the log: the last write counts, each session has its own', async () => {
  const child = await ctx.sessions.create({ cwd: '/proj', parent: { id: own.id, seq: 0 } })
  await write([item('first', 'doing')])
  await write(list)
  await write([item('of the child', 'pending')], child)
  expect(listOf(own)).toEqual(list)
  expect(listOf(child)).toEqual([item('of the child', 'pending')])
})

// BUG-089
test('a list survives closing and opening its session', async () => {
  await write(list)
  await own.close()
  const again = await ctx.sessions.open(own.id)
  expect(listOf(again)).toEqual(list)
})

test('a compaction of what was before the list leaves the list in sight', async () => {
  const before = own.events.length - 1
  await write(list)
  own.append('compaction/done', { upTo: before, summary: 'Work went on.' })
  expect(own.fold(todoFold)).toMatchObject({ items: list, outOfSight: false })
})

// BUG-089
test('an empty list clears the list', async () => {
  await write(list)
  expect(text(await write([]))).toBe('The todo list is empty.')
  expect(listOf(own)).toEqual([])
})

// BUG-089
test('items are told apart by their place: the same text or id twice is two items, and extra fields are dropped', async () => {
  await write([
    { id: '1', text: ' A ', status: 'done', activeForm: 'doing A' },
    { id: '1', text: 'A', status: 'pending', __proto__: null },
  ])
  expect(listOf(own)).toEqual([item('A', 'done'), item('A', 'pending')])
})

// BUG-089
test.each<[string, unknown, object, string]>([
  [
    'two items being done',
    [item('A', 'doing'), item('B', 'pending'), item('C', 'doing')],
    { tag: 'failed', code: 'TODO_SEVERAL_DOING' },
    'Items 1, 3 are all marked as doing; at most one may be. The list is unchanged.',
  ],
  [
    'a text of white space',
    [item('A', 'done'), item(' \n', 'pending')],
    { tag: 'failed', code: 'TODO_TEXT_EMPTY' },
    'Item 2 has no text. The list is unchanged.',
  ],
  ['an empty text', [item('', 'pending')], { tag: 'invalid' }, '$.items[0].text'],
  ['a text that is too long', [item('x'.repeat(TEXT_MAX + 1), 'pending')], { tag: 'invalid' }, `${TEXT_MAX}`],
  ['500 items', Array.from({ length: 500 }, () => item('x', 'pending')), { tag: 'invalid' }, `${ITEMS_MAX} items`],
  ['an unknown status', [item('A', 'later')], { tag: 'invalid' }, '$.items[0].status'],
  ['no list', 'everything', { tag: 'invalid' }, '$.items'],
])('a list with %s is refused with the reason, and the list before stays', async (_, items, outcome, reason) => {
  await write(list)
  const settled = await write(items)
  expect(settled.result.outcome).toMatchObject(outcome)
  expect(text(settled)).toContain(reason)
  expect(listOf(own)).toEqual(list)
})

// BUG-089
test('after a compaction that hides the last list it is restated once, and a new write ends that', async () => {
  await ctx.plugin(llm)
  await ctx.plugin(agent)
  const model = scriptedModel([
    { calls: [{ name: 'todo_write', args: { items: list } }] },
    'one',
    'two',
    { calls: [{ name: 'todo_write', args: { items: [item('B', 'doing')] } }] },
    'three',
  ])
  await ctx.plugin({ name: 'script', inject: ['llm'], apply: (c) => void c.llm.register('script', model) })
  const driven = ctx.agents.create({ session: own, model: 'script/any' })
  const shown = (n: number) => {
    const request = model.requests[n]
    return `${request?.system}\n${JSON.stringify(request?.messages)}`.split('[>] B').length - 1
  }
  await driven.send('go')
  expect([shown(0), shown(1)]).toEqual([0, 1])
  own.append('compaction/done', { upTo: own.events.length - 1, summary: 'Work went on.' })
  await driven.send('and now?')
  expect(shown(2)).toBe(1)
  expect(model.requests[2]?.system).toContain(
    'Todo list (1 of 3 done):\n[x] A\n[>] B\n[ ] C\nThis is your list as you last wrote it. Go on with it.',
  )
  await driven.send('more')
  expect([shown(3), shown(4)]).toEqual([1, 1])
  expect(model.requests[4]?.system).not.toContain('[>] B')
  model.verify()
})

test('unloading the plugin takes its tool, its event type and its section away', async () => {
  const other = new Context()
  await other.plugin(worldPlugin(simWorld({ autoAdvance: true })))
  for (const plugin of [memoryStorePlugin, session, tools, llm, agent]) await other.plugin(plugin)
  const fiber = await other.plugin(todo)
  expect(other.tools.visible().map((tool) => tool.name)).toEqual(['todo_write'])
  await fiber.dispose()
  expect(other.tools.visible()).toEqual([])
  expect(other.sessions.types().map(({ type }) => type)).not.toContain('todo/write')
  await other.plugin({ name: 'next', inject: ['agents'], apply: (c) => void c.agents.section('todo', 0, 'mine') })
  await other.fiber.dispose()
})
