/** Owns the page of options: for each plugin of the composition, what it may be configured with. */
import { type Booted, compare } from '@sluice/graph'
import { code, page, table } from './markdown.ts'
import type { Page } from './types.ts'

/** What is read of a configuration schema. */
interface Option {
  readonly type: string
  readonly meta?: { readonly default?: unknown; readonly description?: unknown; readonly required?: boolean }
  readonly dict?: Readonly<Record<string, Option>>
  toString(): string
}

function isOption(value: unknown): value is Option {
  return (typeof value === 'function' || typeof value === 'object') && value !== null && 'type' in value
}

/** The schema of a plugin's options, from its module. */
function schemaOf(module: unknown): Option | undefined {
  if (typeof module !== 'object' || module === null) return undefined
  const plugin: unknown = 'default' in module ? module.default : module
  if (plugin === null || (typeof plugin !== 'object' && typeof plugin !== 'function')) return undefined
  return 'Config' in plugin && isOption(plugin.Config) ? plugin.Config : undefined
}

function descriptionOf(option: Option): string {
  const { description } = option.meta ?? {}
  return typeof description === 'string' ? description : ''
}

function rowsOf(schema: Option, prefix = ''): string[][] {
  return Object.entries(schema.dict ?? {}).flatMap(([key, option]) => {
    const name = `${prefix}${key}`
    if (option.type === 'object' && option.dict !== undefined) return rowsOf(option, `${name}.`)
    const { meta } = option
    const fallback = meta?.required === true ? 'required' : JSON.stringify(meta?.default)
    return [[code(name), code(option.toString()), fallback === undefined ? '' : code(fallback), descriptionOf(option)]]
  })
}

export function configPage(booted: Booted): Page {
  const entries = [...booted.modules].sort(([a], [b]) => compare(a, b))
  const sections = entries.flatMap(([name, module]) => {
    const schema = schemaOf(module)
    const rows = schema === undefined ? [] : rowsOf(schema)
    return rows.length === 0 ? [] : [`## ${name}`, table(['Option', 'Type', 'Default', 'Meaning'], rows)]
  })
  const text = page('Configuration', booted.title, [
    'What may stand under `config` of each entry of a composition file.',
    ...sections,
  ])
  return { name: 'config.md', text }
}
