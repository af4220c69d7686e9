/** Owns the definitions of the search tools. */
import type { World } from '@sluice/base'
import type { Fs } from '@sluice/fs'
import type { Card, Run, ToolDefinition, ToolResult } from '@sluice/tools'
import { GlobArgs, GrepArgs } from './arguments.ts'
import { glob, type SearchOptions } from './glob.ts'
import { grep } from './grep.ts'
import { globDescription, globText, grepDescription, grepText } from './prompt.ts'
import type { GlobValue, GrepValue } from './types.ts'

export interface SearchServices {
  readonly fs: Fs
  readonly world: World
}

/** Characters of hits on a card. */
const CARD_CHARS = 2_000

export function globTool(services: SearchServices): ToolDefinition<GlobArgs> {
  const card = ({ pattern, path }: GlobArgs): Card => searchCard('Glob', pattern, path)
  return {
    name: 'glob',
    description: globDescription,
    parameters: GlobArgs,
    annotations: { readOnly: true, idempotent: true },
    aliases: ['Glob'],
    overlap: 'parallel',
    specifier: ({ path = '.' }) => path,
    execute: async (args, run) => glob(args, await optionsOf('glob', services, run)),
    render: (value) => globText(value as unknown as GlobValue),
    presentCall: card,
    presentResult: (args, result) => withHits(card(args), (result.value as unknown as GlobValue).paths.length, result),
  }
}

export function grepTool(services: SearchServices): ToolDefinition<GrepArgs> {
  const card = ({ pattern, path }: GrepArgs): Card => searchCard('Grep', pattern, path)
  return {
    name: 'grep',
    description: grepDescription,
    parameters: GrepArgs,
    annotations: { readOnly: true, idempotent: true },
    aliases: ['Grep'],
    overlap: 'parallel',
    specifier: ({ path = '.' }) => path,
    execute: async (args, run) => grep(args, await optionsOf('grep', services, run)),
    render: (value) => grepText(value as unknown as GrepValue),
    presentCall: card,
    presentResult: (args, result) => withHits(card(args), (result.value as unknown as GrepValue).hits, result),
  }
}

function searchCard(name: string, query: string, path: string | undefined): Card {
  return { v: 1, kind: 'search', title: path === undefined ? name : `${name} in ${path}`, query }
}

function withHits(card: Card, hits: number, { content }: ToolResult): Card {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return { ...card, hits, text: text.slice(0, CARD_CHARS).toWellFormed() } as Card
}

async function optionsOf(tool: string, { fs, world }: SearchServices, run: Run): Promise<SearchOptions> {
  const context = { session: run.session, call: { id: run.callId, tool }, signal: run.signal }
  const { path: home } = await fs.resolve('.', run.session)
  return { world, signal: run.signal, place: { fs, disk: world.disk, context, home } }
}
