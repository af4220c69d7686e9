import { type AnswererSubject, answererContract } from '@sluice/approval/contract'
import type { Answer, Answerer } from '@sluice/approval'
import { runContract } from '@sluice/testkit'
import { describe, expect, it, test } from 'vitest'
import { mount } from './mount.ts'

describe('the plugin', () => {
  test('shows who may answer, and takes an answerer away with its plugin', async () => {
    const bench = await mount()
    const fiber = await bench.answerer('person', () => undefined)
    expect(bench.ctx.approval.answerers()).toEqual([{ name: 'person', plugin: `person#${fiber.uid}` }])
    await fiber.dispose()
    expect(bench.ctx.approval.answerers()).toEqual([])
  })

  test('unloading leaves nothing behind: no service, no question, no timer, no listener on a call', async () => {
    const bench = await mount({ expiryMs: 1_000 })
    await bench.answerer('person', ({ callId }) => ({ callId, kind: 'allow-once' }))
    const controller = new AbortController()
    await bench.call({}, { signal: controller.signal })
    await bench.approval.dispose()
    expect(bench.ctx.get('approval')).toBeUndefined()
    expect(bench.world.clock.pending).toBe(0)
    controller.abort()
    expect(bench.log()).toEqual(['asked c1', 'decided c1 allowed-once'])
    expect((await bench.call()).result.outcome).toMatchObject({ tag: 'denied', stage: 'approval' })
  })

  test('a listener of its events that throws changes no decision', async () => {
    const bench = await mount()
    for (const event of ['approval/question-opened', 'approval/question-closed'] as const)
      bench.ctx.on(event, () => {
        throw new Error('broken screen')
      })
    await bench.answerer('person', ({ callId }) => ({ callId, kind: 'allow-once' }))
    expect((await bench.call()).result.outcome.tag).toBe('succeeded')
    expect(bench.reports.join()).toContain('broken screen')
  })
})

/** The smallest answerer: questions in a list, answered by a function. */
function listed(): AnswererSubject {
  const open: { callId: string; offer: string | undefined; resolve: (answer: Answer | undefined) => void }[] = []
  const answerer: Answerer = ({ callId, asks, signal }) => {
    if (signal.aborted) return undefined
    return new Promise((resolve) => {
      const entry = { callId, offer: asks.flatMap(({ offers = [] }) => offers)[0]?.id, resolve }
      open.push(entry)
      signal.addEventListener('abort', () => {
        open.splice(open.indexOf(entry), 1)
        resolve(undefined)
      })
    })
  }
  return {
    answerer,
    press(kind, message) {
      const next = open.shift()
      next?.resolve({ callId: next.callId, kind, ...(message !== undefined && { message }) } as Answer)
    },
    always() {
      const next = open.shift()
      next?.resolve({ callId: next.callId, kind: 'allow-once', offer: next.offer as string })
    },
  }
}

runContract(answererContract, listed, { it, describe }, { title: 'an answerer with a list of questions' })
