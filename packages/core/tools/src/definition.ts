/** Owns what a registered definition becomes: checked, with compiled schemas, and pinned by the calls that use it. */
import { type Json, type JsonObject, lossless, messageOf, type SchemaCheck, schemaCheck } from '@sluice/base'
import type { Fiber } from 'cordis'
import { toolsErrors } from './errors.ts'
import { pluginLabel } from './listeners.ts'
import type { Annotations, ToolDefinition, ToolInfo } from './types.ts'

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
    if (copy === null || typeof copy !== 'object' || Array.isArray(copy)) throw new TypeError('a schema is an object')
    return copy as JsonObject
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

function annotationsOf(given: Annotations | undefined): Annotations {
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
