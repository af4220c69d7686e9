/** Owns the loop that walks a subject through a table, one recorded step at a time. */
import { assertSound, pipelineErrors } from './errors.ts'
import type { Detour, OutcomeOf, StageOf, StageTable } from './table.ts'

/** `Entering`: what the subject is, by the ways that lead to a stage, where that is more than `Subject` says. */
export type Handlers<T extends StageTable, Subject, Entering = unknown> = {
  readonly [S in StageOf<T>]: (
    subject: S extends keyof Entering ? Entering[S] : Subject,
  ) => OutcomeOf<T, S> | PromiseLike<OutcomeOf<T, S>>
}

export interface ExecutorHooks<Subject, Stage extends string = string> {
  /** Called before the next stage starts. */
  record(subject: Subject, stage: Stage, outcome: string): void
  /** Which detour a throw is. */
  detourOf(subject: Subject, error: unknown): Detour
  /** The throw that led to the rescue stage, before its step is recorded. */
  rescued(subject: Subject, stage: Stage, detour: Detour, error: unknown): void
  /** Asked before each stage that has the detour `aborted`. */
  aborted(subject: Subject): boolean
}

interface Node {
  readonly stage: string
  readonly handle: (subject: never) => string | PromiseLike<string>
  readonly next: Map<string, Node | undefined>
  readonly detours: readonly Detour[]
  readonly canAbort: boolean
}

function compile(table: StageTable, handlers: Record<string, Node['handle']>): Map<string, Node> {
  const nodes = new Map<string, Node>()
  for (const [stage, row] of Object.entries(table.stages)) {
    const handle = Object.hasOwn(handlers, stage) ? handlers[stage] : undefined
    if (!handle) throw new TypeError(`no handler for stage ${stage}`)
    const { detours = [] } = row
    nodes.set(stage, { stage, handle, next: new Map(), detours, canAbort: detours.includes('aborted') })
  }
  for (const [stage, row] of Object.entries(table.stages))
    for (const [outcome, target] of Object.entries(row.outcomes)) nodes.get(stage)?.next.set(outcome, nodes.get(target))
  return nodes
}

/** A function that takes a subject from start to end. It rejects only when a stage without a fitting detour throws.
 *  @throws PIPELINE_UNSOUND */
export function makeExecutor<T extends StageTable, Subject, Entering = unknown>(
  table: T,
  handlers: Handlers<T, Subject, Entering>,
  hooks: ExecutorHooks<Subject, StageOf<T>>,
): (subject: Subject) => Promise<void> {
  assertSound(table)
  const nodes = compile(table, handlers as unknown as Record<string, Node['handle']>)
  const start = nodes.get(table.start) as Node
  // A sound table without one has no detours.
  const rescue = nodes.get(table.rescue as string)

  return async (subject) => {
    let node: Node | undefined = start
    while (node) {
      let outcome: string
      let next: Node | undefined
      try {
        if (node.canAbort && hooks.aborted(subject)) {
          outcome = 'aborted'
          next = rescue
          hooks.rescued(subject, node.stage, 'aborted', undefined)
        } else {
          const answer = node.handle(subject as never)
          outcome = typeof answer === 'string' ? answer : await answer
          next = node.next.get(outcome)
          if (next === undefined && !node.next.has(outcome))
            throw pipelineErrors('PIPELINE_BAD_OUTCOME', { stage: node.stage, outcome: String(outcome) })
        }
      } catch (error) {
        const kind = hooks.detourOf(subject, error)
        const detour = node.detours.includes(kind) ? kind : 'threw'
        if (!node.detours.includes(detour)) throw error
        hooks.rescued(subject, node.stage, detour, error)
        outcome = detour
        next = rescue
      }
      hooks.record(subject, node.stage, outcome)
      node = next
    }
  }
}
