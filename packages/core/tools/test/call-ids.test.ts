import type { SessionEvent } from '@sluice/session'
import { usedCallIds } from '@sluice/tools'
import { expect, test } from 'vitest'

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

test('what one session has used is not known to another', () => {
  usedCallIds.step(usedCallIds.initial, call('mine'))
  expect(usedCallIds.initial.has('mine')).toBe(false)
})
