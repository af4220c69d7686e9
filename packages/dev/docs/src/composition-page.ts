/** Owns the page of the composition: who provides and who needs which service, and what waits for what. */
import { reportOf } from '@sluice/compose'
import type { Booted } from './boot.ts'
import { label } from './chart.ts'
import { code, fence, page, table } from './markdown.ts'
import { compare, type KnownPlugin, Plugins } from './known-plugins.ts'
import type { Page } from './types.ts'

interface Service {
  readonly name: string
  readonly providers: readonly KnownPlugin[]
  readonly users: readonly KnownPlugin[]
}

function servicesOf(plugins: readonly KnownPlugin[]): Service[] {
  const names = new Set(plugins.flatMap((plugin) => [...plugin.provides, ...plugin.injects]))
  return [...names].sort(compare).map((name) => ({
    name,
    providers: plugins.filter((plugin) => plugin.provides.includes(name)),
    users: plugins.filter((plugin) => plugin.injects.includes(name)),
  }))
}

/** Services as round nodes between those who provide and those who need them. */
function chart(plugins: readonly KnownPlugin[], services: readonly Service[]): string {
  const ids = new Map(plugins.map((plugin, index) => [plugin, `p${index}`]))
  const lines = ['flowchart LR']
  for (const [plugin, id] of ids) lines.push(`  ${id}[${label([plugin.name])}]`)
  for (const [index, { name, providers, users }] of services.entries()) {
    lines.push(`  v${index}([${label([`ctx.${name}`])}])`)
    for (const provider of providers) lines.push(`  ${ids.get(provider)} --> v${index}`)
    for (const user of users) lines.push(`  v${index} --> ${ids.get(user)}`)
  }
  return fence('mermaid', lines.join('\n'))
}

const names = (plugins: readonly KnownPlugin[]) => [...new Set(plugins.map(({ name }) => name))].join(', ')

function pluginRow(plugin: KnownPlugin): string[] {
  const listens = [...new Set(plugin.listens)].map(code).join(', ')
  const { name, from = '', state, injects, provides } = plugin
  return [name, code(from), state, injects.map(code).join(', '), provides.map(code).join(', '), listens]
}

export function compositionPage(booted: Booted): Page {
  const plugins = new Plugins(booted).all
  const services = servicesOf(plugins)
  const rows = services.map(({ name, providers, users }) => [
    code(`ctx.${name}`),
    names(providers) || 'the host',
    names(users),
  ])
  const text = page('Composition', booted.title, [
    'An arrow leads from a plugin to the services that it provides, and from a service to the plugins that need it.',
    chart(plugins, services),
    '## Services',
    table(['Service', 'Provided by', 'Needed by'], rows),
    '## Plugins',
    table(['Plugin', 'Entry', 'State', 'Needs', 'Provides', 'Listens to'], plugins.map(pluginRow)),
    '## Waiting',
    fence('text', reportOf(booted.diagnosis)),
  ])
  return { name: 'composition.md', text }
}
