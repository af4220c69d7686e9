/** Owns the page of tools: what a model can call, as it is told. */
import type { ToolInfo } from '@sluice/tools'
import { type Booted, compare, Plugins, serviceOf } from '@sluice/graph'
import { code, fence, page, table } from './markdown.ts'
import type { Page } from './types.ts'

function annotationsOf(tool: ToolInfo): string {
  const said = Object.entries(tool.annotations).filter(([, value]) => value === true)
  return said.map(([name]) => name).join(', ')
}

function section(tool: ToolInfo, plugins: Plugins): string[] {
  const source = plugins.sourceOf(tool.plugin)
  const rows = [
    ['Plugin', `${plugins.nameOf(tool.plugin)}${source === undefined ? '' : ` (${code(source)})`}`],
    ['Annotations', annotationsOf(tool)],
    ['Other names', tool.aliases.map(code).join(', ')],
    ['Bodies overlap', tool.overlap],
    ['Deadline', tool.timeoutMs === undefined ? '' : `${tool.timeoutMs} ms`],
  ].filter(([, value]) => value !== '')
  const output = tool.output === undefined ? [] : ['Value:', fence('json', JSON.stringify(tool.output, null, 2))]
  return [
    `## ${tool.name}`,
    fence('text', tool.description),
    table(['', ''], rows),
    'Arguments:',
    fence('json', JSON.stringify(tool.parameters, null, 2)),
    ...output,
  ]
}

/** @throws GRAPH_SERVICE_MISSING */
export function toolsPage(booted: Booted): Page {
  const plugins = new Plugins(booted)
  const tools = [...serviceOf(booted, 'tools').visible()].sort((a, b) => compare(a.name, b.name))
  const text = page('Tools', booted.title, [
    'What a model can call in this composition, with the words that it reads.',
    ...tools.flatMap((tool) => section(tool, plugins)),
  ])
  return { name: 'tools.md', text }
}
