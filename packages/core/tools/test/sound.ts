/** Owns what must hold of a session's log after any calls: one result per call, traces that walk the table, questions answered. */
import { firstBadStep } from '@sluice/pipeline'
import type { KnownEvent, Session, ToolResultData } from '@sluice/session'
import { callTable, traceOf } from '@sluice/tools'
import { flushMicrotasks } from '@sluice/testkit'
import { expect, onTestFinished } from 'vitest'
import { type Bench, type BenchOptions, makeBench } from './kit.ts'

class Account {
  readonly problems: string[] = []
  private readonly open = new Map<string, { readonly parent: string | undefined; readonly children: Set<string> }>()
  private readonly seen = new Set<string>()
  private readonly questions = new Set<string>()

  read(event: KnownEvent): void {
    if (event.type === 'tool/call') this.begin(event.data.callId, undefined)
    else if (event.type === 'tool/result') this.end(event.data.callId, event.data)
    else if (event.type === 'tool/code-dispatch') {
      const { callId, parent, phase, result } = event.data
      if (phase === 'start') this.begin(callId, parent)
      else this.end(callId, result)
    } else if (event.type === 'approval/asked') this.questions.add(event.data.callId)
    else if (event.type === 'approval/decided' && !this.questions.delete(event.data.callId))
      this.problems.push(`a decision about ${event.data.callId}, which was not asked`)
  }

  finish(): string[] {
    for (const id of this.open.keys()) this.problems.push(`${id} has no result`)
    for (const id of this.questions) this.problems.push(`the question about ${id} has no decision`)
    return this.problems
  }

  private begin(id: string, parent: string | undefined): void {
    if (this.seen.has(id)) this.problems.push(`${id} is called twice`)
    this.seen.add(id)
    this.open.set(id, { parent, children: new Set() })
    if (parent === undefined) return
    const outer = this.open.get(parent)
    if (outer) outer.children.add(id)
    else this.problems.push(`${id} begins after its outer call ${parent} has ended`)
  }

  private end(id: string, result: Readonly<ToolResultData> | undefined): void {
    const call = this.open.get(id)
    if (!call) this.problems.push(`a second result of ${id}, or one without a call`)
    for (const child of call?.children ?? []) this.problems.push(`${id} ends before its nested call ${child}`)
    this.open.delete(id)
    if (call?.parent !== undefined) this.open.get(call.parent)?.children.delete(id)
    const bad = result && firstBadStep(callTable, traceOf(result) ?? [])
    if (!result) this.problems.push(`${id} ends without a result`)
    if (bad) this.problems.push(`${id}, step ${bad.index}: ${bad.problem}`)
  }
}

/** What is wrong with the calls of a session whose work is over, in words. */
export function unsound(session: Session): string[] {
  const account = new Account()
  for (const event of session.events) account.read(event as KnownEvent)
  return account.finish()
}

/** A bench; when the test has finished, its log must be sound and no timer may be left. */
export async function soundBench(options: BenchOptions = {}): Promise<Bench> {
  const bench = await makeBench(options)
  onTestFinished(async () => {
    await flushMicrotasks()
    await bench.world.clock.runUntilIdle()
    expect(unsound(bench.session)).toEqual([])
    expect(bench.world.clock.pending).toBe(0)
  })
  return bench
}
