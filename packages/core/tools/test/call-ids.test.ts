import type { SessionEvent } from '@sluice/session'
import { usedCallIds } from '@sluice/tools'
import { expect, test } from 'vitest'
import { makeBench } from './kit.ts'

const call = (callId: string, batch = 1) =>
  ({ seq: 0, at: 0, type: 'tool/call', data: { callId, batch } }) as SessionEvent

// 2.6
test('ids that a session has used are known after they were saved and loaded, whatever they look like', () => {
  const ids = ['plain', '', 'with space', 'two\nlines', '__proto__', 'constructor', '  ']
  const used = ids.reduce((state, id, index) => usedCallIds.step(state, call(id, index)), usedCallIds.initial)
  const again = usedCallIds.load?.(JSON.parse(JSON.stringify(usedCallIds.save?.(used))))
  for (const id of ids) expect([used.has(id), again?.has(id)], JSON.stringify(id)).toEqual([true, true])
  for (const id of ['with', 'space', 'toString']) expect(again?.has(id), id).toBe(false)
  expect(again?.batches).toBe(ids.length)
})

// 2.6
test('ids that were loaded are saved again, whether or not anybody asked for them', () => {
  const saved = usedCallIds.save?.(usedCallIds.step(usedCallIds.initial, call('mine')))
  const twice = usedCallIds.load?.(usedCallIds.save?.(usedCallIds.load?.(saved ?? null) as never) ?? null)
  expect(twice?.has('mine')).toBe(true)
})

// 2.6, 11.2
test('a nested call and a lone result use an id, another event does not', () => {
  const ids = ['tool/code-dispatch', 'tool/result', 'tool/started'].map((type) => {
    const used = usedCallIds.step(usedCallIds.initial, { ...call(type), type })
    return [type, used.has(type)]
  })
  expect(ids).toEqual([
    ['tool/code-dispatch', true],
    ['tool/result', true],
    ['tool/started', false],
  ])
})

test('used ids are part of a checkpoint', async () => {
  const { ctx } = await makeBench()
  expect(() => ctx.sessions.registerFold(usedCallIds)).toThrow('is registered already')
})

test('what one session has used is not known to another', () => {
  usedCallIds.step(usedCallIds.initial, call('mine'))
  expect(usedCallIds.initial.has('mine')).toBe(false)
})
