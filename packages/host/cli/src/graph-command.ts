/** Owns `sluice graph`: the way of a tool call through a composition, and the ways that recorded calls took. */
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { moduleImporter } from '@sluice/compose'
import { boot, graphOf, mermaidOf, type RecordedCall, recordedCalls } from '@sluice/graph'
import { callTable } from '@sluice/tools'
import { EXIT } from './exit-code.ts'
import { compositionFile, noteUnused } from './paths.ts'
import { printableJson } from './printable.ts'
import type { RunParts } from './run-command.ts'
import { told } from './session-command.ts'
import { withSession } from './session-place.ts'
import type { Terminal } from './terminal.ts'

export interface GraphOptions {
  readonly format: 'mermaid' | 'json'
  readonly composition?: string
  readonly session?: string
}

/** Mounts the composition without any effect, and writes its graph.
 *  @throws GRAPH_PLUGIN_FAILED, GRAPH_SERVICE_MISSING, CLI_COMPOSITION_MISSING, and whatever keeps a session from being read */
export async function graph(terminal: Terminal, parts: RunParts, options: GraphOptions): Promise<number> {
  const { world, importer = moduleImporter(fileURLToPath(import.meta.url)) } = parts
  const { format, composition, session: given } = options
  const file = await compositionFile(world, terminal.cwd, composition)
  if (composition === undefined) await noteUnused(world.disk, terminal.cwd, (text) => terminal.writeError(text))
  const booted = await boot({ file, title: basename(file), world, importer })
  const draw = (calls: readonly RecordedCall[]) => {
    const drawn = graphOf(booted, calls)
    terminal.write(format === 'json' ? `${printableJson(drawn)}\n` : mermaidOf(drawn))
  }
  try {
    if (given !== undefined) {
      return await withSession(terminal, world, given, async (ctx, id) => {
        const session = await ctx.sessions.open(id, 'read')
        draw(recordedCalls(session.events, callTable))
        return told(session.findings, (text) => terminal.writeError(text))
      })
    }
    draw([])
    return EXIT.done
  } finally {
    await booted.dispose()
  }
}
