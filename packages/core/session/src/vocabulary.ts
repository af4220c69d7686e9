/** Owns which event types are registered, by whom, and whether an event fits its type. */
import { isSluiceError, type Json, lossless, messageOf, type SchemaCheck, schemaCheck } from '@sluice/base'
import type { TSchema } from 'typebox'
import type { SessionEvent } from './envelope.ts'
import { sessionErrors } from './errors.ts'
import type { LogFinding } from './store.ts'

export interface EventDefinition {
  readonly version: number
  /** One sentence. */
  readonly meaning: string
  readonly schema: TSchema
  readonly modelVisible?: boolean
}

export type EventTable = { readonly [type: string]: EventDefinition }

export interface RegisteredType {
  readonly type: string
  readonly owner: string
  readonly definition: EventDefinition
}

interface Entry extends RegisteredType {
  readonly optional: boolean
  /** Both are made on first use. */
  strict?: SchemaCheck
  /** What a reader insists on: fields that a later version has added are fine. */
  lenient?: SchemaCheck
}

/** The types of one service. A Map, because type names come from outside. */
export class Vocabulary {
  private readonly entries = new Map<string, Entry>()

  /** Registers all of `table` or nothing; the disposer takes it out again.
   *  @throws SESSION_TYPE_TAKEN */
  define(table: EventTable, owner: string, optional: boolean): () => void {
    const added: Entry[] = Object.entries(table).map(([type, definition]) => ({ type, owner, definition, optional }))
    for (const { type } of added) {
      const taken = this.entries.get(type)
      if (taken) throw sessionErrors('SESSION_TYPE_TAKEN', { type, owner: taken.owner })
    }
    for (const entry of added) this.entries.set(entry.type, entry)
    return () => {
      for (const entry of added) if (this.entries.get(entry.type) === entry) this.entries.delete(entry.type)
    }
  }

  types(): RegisteredType[] {
    return [...this.entries.values()]
      .map(({ type, owner, definition }) => ({ type, owner, definition }))
      .sort((a, b) => (a.type < b.type ? -1 : 1))
  }

  /** The types that a reader has to know, in their versions. */
  binding(): string {
    const bound = [...this.entries.values()].filter(({ optional }) => !optional)
    return bound.map(({ type, definition }) => `${type}@${definition.version}`).join(' ')
  }

  /** What is wrong with an event that was read, if it cannot be worked with. One that a reader may skip is not looked into. */
  finding(event: SessionEvent, line: number): LogFinding | undefined {
    const detail = this.misfit(event)
    if (detail === undefined) return undefined
    return { kind: this.entries.has(event.type) ? 'bad-event' : 'unknown-type', line, detail }
  }

  private misfit(event: SessionEvent): string | undefined {
    const entry = this.entries.get(event.type)
    if (!entry)
      return event.optional ? undefined : `no plugin has registered ${event.type}, and a reader may not skip it`
    if (entry.optional) return undefined
    const check = (entry.lenient ??= schemaCheck(withoutClosing(entry.definition.schema) as object))
    if (check.test(event.data)) return undefined
    const [first] = check.problems(event.data)
    return `${event.type} does not fit its schema: ${first?.path ?? '$'} ${first?.problem ?? ''}`
  }

  /** A frozen lossless copy of `data` that fits the schema of `type`.
   *  @throws SESSION_TYPE_UNKNOWN, SESSION_EVENT_INVALID */
  admit(type: string, data: unknown): { readonly data: Json; readonly optional: boolean } {
    const entry = this.entries.get(type)
    if (!entry) throw sessionErrors('SESSION_TYPE_UNKNOWN', { type })
    const value = copied(type, data)
    const check = (entry.strict ??= schemaCheck(entry.definition.schema))
    if (!check.test(value)) throw sessionErrors('SESSION_EVENT_INVALID', { type, problems: check.problems(value) })
    return { data: value, optional: entry.optional }
  }
}

function copied(type: string, data: unknown): Json {
  try {
    return lossless(data)
  } catch (error) {
    const known = isSluiceError(error, 'JSON_NOT_LOSSLESS')
      ? (error.data as { path: string; problem: string })
      : undefined
    const problems = [known ?? { path: '$', problem: messageOf(error) }]
    throw sessionErrors('SESSION_EVENT_INVALID', { type, problems }, { cause: error })
  }
}

function withoutClosing(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutClosing)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(([key, value]) => key !== 'additionalProperties' || value !== false)
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutClosing(value)]))
}
