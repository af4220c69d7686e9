/** Owns mounting what a command needs, and taking it down again. */
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { canonicalJson, isSluiceError, type World } from '@sluice/base'
import { type CompositionEntry, compose, type Importer, moduleImporter, reportOf } from '@sluice/compose'
import { Context, Logger } from 'cordis'
import { cliErrors } from './errors.ts'
import { withGrantingFiles } from './granting-files.ts'
import { printable } from './printable.ts'
import type { Terminal } from './terminal.ts'

export interface AppOptions {
  readonly terminal: Terminal
  readonly world: World
  /** Absolute path of a composition. */
  readonly composition: string
  readonly importer?: Importer
  readonly adjust?: (entries: readonly CompositionEntry[]) => readonly CompositionEntry[]
}

export interface App {
  readonly ctx: Context
  /** Digest of what is mounted, with its configuration: equal for equal compositions. */
  readonly composition: string
  readonly entries: readonly CompositionEntry[]
  close(): Promise<void>
}

const needed = ['sessions', 'agents', 'tools', 'llm'] as const

/** A mounted composition that can run a task.
 *  @throws what `compose` throws, and CLI_COMPOSITION_INCOMPLETE */
export async function openApp(options: AppOptions): Promise<App> {
  const { terminal, world, composition: file } = options
  const ctx = new Context()
  showLog(ctx, terminal)
  ctx.provide('world', world)
  const composed = await compose(ctx, {
    file,
    world,
    importer: options.importer ?? moduleImporter(fileURLToPath(import.meta.url)),
    adjust: (entries) => withGrantingFiles(options.adjust?.(entries) ?? entries, file, world.host),
  })
  const missing = needed.filter((name) => ctx.get(name) === undefined)
  if (missing.length > 0) {
    const report = reportOf(await composed.diagnose())
    await composed.dispose()
    throw cliErrors('CLI_COMPOSITION_INCOMPLETE', { file, missing, report })
  }
  const { entries } = composed
  return { ctx, composition: digestOf(entries), entries, close: () => composed.dispose() }
}

function digestOf(entries: readonly CompositionEntry[]): string {
  const mounted = entries.filter(({ disabled }) => !disabled).map(({ name, config = {} }) => ({ name, config }))
  return createHash('sha256').update(canonicalJson(mounted)).digest('hex')
}

/** Warnings and errors of plugins go to standard error: without this even a crash of a plugin says nothing. */
function showLog(ctx: Context, terminal: Terminal): void {
  const WARN = 2
  ctx.logger.exporter({
    colors: false,
    levels: { default: WARN },
    export(message) {
      if (message.type !== 'warn' && message.type !== 'error') return
      // An expected failure says where it comes from by its code; of any other the stack helps whoever mends it.
      const args = (message.args as unknown[]).map((arg) => (isSluiceError(arg) ? `${arg.message} (${arg.code})` : arg))
      terminal.writeError(`${message.type} [${message.name}] ${printable(Logger.format(this, { ...message, args }))}\n`)
    },
  })
}
