/** Owns the bench of the tests of grants: tools with permissions and approval, a person, a probe whose specifier is `path`. */
import * as approvalPlugin from '@sluice/approval'
import type { Answer, Question } from '@sluice/approval'
import * as permissions from '@sluice/permissions'
import { grants } from '@sluice/permissions'
import type { KnownEvent, Session } from '@sluice/session'
import type { ProbeOptions } from '@sluice/testkit'
import { policyBench } from '@sluice/testkit/host'
import type { Context } from 'cordis'

/** What the person says; `always` takes the first rule that is offered, and is a plain yes where none is. */
export type Says = 'yes' | 'no' | 'always' | ((question: Question) => Answer | Promise<Answer | undefined>)

export interface GrantsOptions {
  readonly config?: object
  readonly tools?: object
  readonly probe?: ProbeOptions
}

export type GrantsBench = Awaited<ReturnType<typeof mount>>

export async function mount({ config = {}, tools = {}, probe = {} }: GrantsOptions = {}) {
  const probed = { overlap: 'parallel' as const, specifier: ({ path }: { path?: unknown }) => path as string, ...probe }
  const bench = await policyBench(permissions, config, probed, { otherwise: 'ask', ...tools })
  const approval = await bench.ctx.plugin(approvalPlugin)
  const questions: Question[] = []
  const person = { says: 'no' as Says }
  await bench.ctx.plugin({
    name: 'person',
    inject: ['approval'],
    apply: (ctx: Context) =>
      void ctx.approval.answerer('person', (question) => {
        questions.push(question)
        return answerOf(person.says, question)
      }),
  })
  let count = 0
  return {
    ...bench,
    approval,
    person,
    /** Mounts the policy anew. */
    async reload(given: Partial<permissions.Config> = {}) {
      bench.policy.update({ mode: 'default', allow: [], ask: [], deny: [], edits: [], ...given })
      await bench.policy.inertia
    },
    questions,
    /** The outcome of a call in this session or another, and how many questions it took. */
    async tries(path: unknown, session: Session = bench.session): Promise<string> {
      const before = questions.length
      const call = { id: `t${++count}-${session.events.length}`, tool: 'probe', arguments: { path } as never }
      const { result } = await bench.ctx.tools.execute({ session, call })
      return `${result.outcome.tag}, asked ${questions.length - before}`
    },
    granted: (session: Session = bench.session) => session.fold(grants).granted.map(({ rule }) => rule),
    /** Rules that the last question offered. */
    offers: () => questions.at(-1)?.asks.flatMap(({ offers = [] }) => offers.map(({ text }) => text)),
    events: (session: Session = bench.session) => session.events as readonly KnownEvent[],
  }
}

function answerOf(says: Says, question: Question): Answer | Promise<Answer | undefined> {
  const { callId, asks } = question
  if (typeof says === 'function') return says(question)
  if (says === 'no') return { callId, kind: 'reject' }
  const offer = asks.flatMap(({ offers = [] }) => offers)[0]
  return { callId, kind: 'allow-once', ...(says === 'always' && offer && { offer: offer.id }) }
}
