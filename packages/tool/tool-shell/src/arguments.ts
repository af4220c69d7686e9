/** Owns the parameters of the shell tools. */
import { type Static, Type } from 'typebox'
import { parameterTexts as texts } from './prompt.ts'

/** Characters of a command; the platform takes no more in one argument. */
export const COMMAND_CHARS_MAX = 100_000
/** Hosts that one call may ask for. */
const HOSTS_MAX = 10
/** A name or an address, `*.` before a name, a port after it. */
const HOST = '^(\\*\\.)?[A-Za-z0-9.\\-\\[\\]:]{1,253}$'
/** Longest wait for the end of a job. */
export const WAIT_MS_MAX = 60_000

export const bashArgs = (maxTimeoutMs: number) =>
  Type.Object({
    command: Type.String({
      minLength: 1,
      maxLength: COMMAND_CHARS_MAX,
      pattern: '^[^\\u0000]*$',
      description: texts.command,
    }),
    description: Type.Optional(Type.String({ description: texts.description })),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: maxTimeoutMs, description: texts.timeoutMs })),
    background: Type.Optional(Type.Boolean({ description: texts.background })),
    hosts: Type.Optional(
      Type.Array(Type.String({ pattern: HOST, description: texts.host }), {
        minItems: 1,
        maxItems: HOSTS_MAX,
        description: texts.hosts,
      }),
    ),
    unconfined: Type.Optional(Type.Boolean({ description: texts.unconfined })),
  })
export type BashArgs = Static<ReturnType<typeof bashArgs>>

export const OutputArgs = Type.Object({
  job: Type.String({ description: texts.job }),
  waitMs: Type.Optional(Type.Integer({ minimum: 0, maximum: WAIT_MS_MAX, description: texts.waitMs })),
})
export type OutputArgs = Static<typeof OutputArgs>

export const KillArgs = Type.Object({ job: Type.String({ description: texts.job }) })
export type KillArgs = Static<typeof KillArgs>
