/** Owns the page of the composition: who provides and who needs which service, and what waits for what. */
import { reportOf } from '@sluice/compose'
import { type Booted, compare, type KnownPlugin, Plugins } from '@sluice/graph'
import { mermaidLabel as label } from '@sluice/pipeline'
import { code, fence, page, table } from './markdown.ts'
import type { Page } from './types.ts'

interface Service {
  readonly name: string
  readonly providers: readonly KnownPlugin[]
  readonly users: readonly KnownPlugin[]
  readonly mayUse: readonly KnownPlugin[]
}

function servicesOf(plugins: readonly KnownPlugin[]): Service[] {
  const names = new Set(plugins.flatMap((plugin) => [...plugin.provides, ...plugin.injects, ...plugin.mayUse]))
  return [...names].sort(compare).map((name) => ({
    name,
    providers: plugins.filter((plugin) => plugin.provides.includes(name)),
    users: plugins.filter((plugin) => plugin.injects.includes(name)),
    mayUse: plugins.filter((plugin) => plugin.mayUse.includes(name)),
  }))
}

/** Services as round nodes between those who provide and those who need them. */
function chart(plugins: readonly KnownPlugin[], services: readonly Service[]): string {
  const ids = new Map(plugins.map((plugin, index) => [plugin, `p${index}`]))
  const lines = ['flowchart LR']
  for (const [plugin, id] of ids) lines.push(`  ${id}[${label([plugin.name])}]`)
  for (const [index, { name, providers, users, mayUse }] of services.entries()) {
    lines.push(`  v${index}([${label([`ctx.${name}`])}])`)
    for (const provider of providers) lines.push(`  ${ids.get(provider)} --> v${index}`)
    for (const user of users) lines.push(`  v${index} --> ${ids.get(user)}`)
    for (const user of mayUse) lines.push(`  v${index} -.-> ${ids.get(user)}`)
  }
  return fence('mermaid', lines.join('\n'))
}

const names = (plugins: readonly KnownPlugin[]) => [...new Set(plugins.map(({ name }) => name))].join(', ')

function pluginRow(plugin: KnownPlugin): string[] {
  const listens = [...new Set(plugin.listens)].map(code).join(', ')
  const { name, from = '', state } = plugin
  const [needs, mayUse, provides] = [plugin.injects, plugin.mayUse, plugin.provides].map((list) =>
    list.map(code).join(', '),
  )
  return [name, code(from), state, needs ?? '', mayUse ?? '', provides ?? '', listens]
}

export function compositionPage(booted: Booted): Page {
  const plugins = new Plugins(booted).all
  const services = servicesOf(plugins)
  const rows = services.map(({ name, providers, users, mayUse }) => [
    code(`ctx.${name}`),
    names(providers) || 'the host',
    names(users),
    names(mayUse),
  ])
  const text = page('Composition', booted.title, [
    'An arrow leads from a plugin to the services that it provides, and from a service to the plugins that need it; a dotted one to those that use it when it is there.',
    chart(plugins, services),
    '## Services',
    table(['Service', 'Provided by', 'Needed by', 'Used when there'], rows),
    '## Plugins',
    table(['Plugin', 'Entry', 'State', 'Needs', 'Uses when there', 'Provides', 'Listens to'], plugins.map(pluginRow)),
    '## Waiting',
    fence('text', reportOf(booted.diagnosis)),
  ])
  return { name: 'composition.md', text }
}
