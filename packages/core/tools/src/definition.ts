/** Owns definitions of tools: what is registered, checked, with compiled schemas, and pinned by the calls that use it. */
import { isObject, type Json, type JsonObject, lossless, messageOf, type SchemaCheck, schemaCheck } from '@sluice/base'
import { pluginLabel } from '@sluice/listeners'
import type { Card, ContentPart, Session } from '@sluice/session'
import type { Fiber } from 'cordis'
import type { TSchema } from 'typebox'
import type { Run } from './body.ts'
import type { Call } from './call.ts'
import { toolsErrors } from './errors.ts'
import type { ToolResult } from './outcome.ts'
import type { Keys } from './slots.ts'

export interface Annotations {
  /** The body changes nothing outside. */
  readonly readOnly?: boolean
  /** Running the body twice with the same arguments has the effect of once. */
  readonly idempotent?: boolean
  /** The body may destroy what cannot be made again. */
  readonly destructive?: boolean
  /** The body reaches beyond the workspace (network, other people). */
  readonly openWorld?: boolean
  /** The body acts only through nested calls, each of which is judged by itself. */
  readonly transparent?: boolean
  /** The body starts programs that its arguments choose. */
  readonly startsProcesses?: boolean
}

export type Overlap<Args = JsonObject> = 'exclusive' | 'parallel' | ((args: Args, session: Session) => Keys)

/** What a third party registers. Everything but name, description, parameters and `execute` is optional. */
export interface ToolDefinition<Args = JsonObject> {
  /** `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string
  readonly description: string
  /** JSON Schema of an object (TypeBox, or any Standard JSON Schema with `~standard.jsonSchema`). */
  readonly parameters: TSchema | object
  /** JSON Schema of the value that `execute` returns. */
  readonly output?: TSchema | object
  readonly annotations?: Annotations
  /** Names of the same tool in other products' configurations, such as `Bash`. */
  readonly aliases?: readonly string[]
  /** How bodies may overlap in a batch. Default `exclusive`. */
  readonly overlap?: Overlap<Args>
  /** Deadline of one try in ms; `policy/timeout` enforces it. */
  readonly timeoutMs?: number
  /** `false`: arguments are taken as they are, never repaired. */
  readonly repair?: false
  /** `false`: the tool cannot be called by the body of another. */
  readonly nested?: false
  execute(args: Args, run: Run): unknown
  /** What the model reads of a value. Default: the text itself, or JSON. */
  render?(value: Json, args: Args): string | readonly ContentPart[]
  /** Last change of the content, on every call that reached `prepare`. Synchronous. */
  finalizeContent?(call: Call, result: ToolResult): readonly ContentPart[]
  presentCall?(args: Args): Card
  presentResult?(args: Args, result: ToolResult): Card
  /** What a rule of the form `tool(specifier)` is compared with. */
  specifier?(args: Args): string | undefined
}

/** A definition as others may see it: no body. */
export interface ToolInfo {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
  readonly output: JsonObject | undefined
  readonly annotations: Annotations
  readonly aliases: readonly string[]
  readonly overlap: 'exclusive' | 'parallel' | 'keys'
  readonly timeoutMs: number | undefined
  readonly plugin: string
}

/** A definition as registered. `gone` turns true when its plugin unloads. */
export interface Registered {
  readonly definition: ToolDefinition
  readonly info: ToolInfo
  readonly plugin: string
  readonly scope: string | undefined
  readonly parameters: SchemaCheck
  readonly output: SchemaCheck | undefined
  gone: boolean
}

const namePattern = /^[A-Za-z0-9_-]{1,64}$/

interface StandardJsonSchema {
  readonly '~standard'?: { readonly jsonSchema?: { input?(options: { target: string }): unknown } }
}

/** JSON Schema of `schema`, which may be one already, or a Standard JSON Schema that makes one. */
function jsonSchemaOf(name: string, which: string, schema: object): JsonObject {
  try {
    const standard = (schema as StandardJsonSchema)['~standard']?.jsonSchema
    const source = standard?.input ? standard.input({ target: 'draft-2020-12' }) : schema
    // TypeBox schemas carry hidden kind marks; a JSON round trip leaves the schema itself.
    const plain = JSON.parse(JSON.stringify(source)) as Json
    const copy = lossless(plain)
    if (!isObject(copy)) throw new TypeError('a schema is an object')
    return copy
  } catch (error) {
    throw toolsErrors('TOOLS_SCHEMA_INVALID', { name, which, problem: messageOf(error) })
  }
}

function checkOf(name: string, which: string, schema: JsonObject): SchemaCheck {
  let check: SchemaCheck | undefined
  const compiled = () => {
    try {
      check ??= schemaCheck(schema)
      return check
    } catch (error) {
      throw toolsErrors('TOOLS_SCHEMA_INVALID', { name, which, problem: messageOf(error) })
    }
  }
  return { test: (value) => compiled().test(value), problems: (value) => compiled().problems(value) }
}

export function annotationsOf(given: Annotations | undefined): Annotations {
  return Object.freeze({
    readOnly: given?.readOnly === true,
    idempotent: given?.idempotent === true,
    destructive: given?.destructive === true,
    openWorld: given?.openWorld === true,
    transparent: given?.transparent === true,
    startsProcesses: given?.startsProcesses === true,
  })
}

/** @throws TOOLS_NAME_INVALID, TOOLS_SCHEMA_INVALID */
export function makeRegistered(given: ToolDefinition, fiber: Fiber, scope: string | undefined): Registered {
  const definition: ToolDefinition = { ...given }
  const { name } = definition
  if (typeof name !== 'string' || !namePattern.test(name))
    throw toolsErrors('TOOLS_NAME_INVALID', { name: String(name) })
  const parameters = jsonSchemaOf(name, 'parameter', definition.parameters)
  if (parameters['type'] !== 'object')
    throw toolsErrors('TOOLS_SCHEMA_INVALID', { name, which: 'parameter', problem: 'its type is not object' })
  const output = definition.output === undefined ? undefined : jsonSchemaOf(name, 'output', definition.output)
  const plugin = pluginLabel(fiber)
  const info: ToolInfo = Object.freeze({
    name,
    description: String(definition.description),
    parameters,
    output,
    annotations: annotationsOf(definition.annotations),
    aliases: Object.freeze([...(definition.aliases ?? [])]),
    overlap: typeof definition.overlap === 'function' ? 'keys' : (definition.overlap ?? 'exclusive'),
    timeoutMs: definition.timeoutMs,
    plugin,
  })
  return {
    definition: Object.freeze(definition),
    info,
    plugin,
    scope,
    parameters: checkOf(name, 'parameter', parameters),
    output: output && checkOf(name, 'output', output),
    gone: false,
  }
}
