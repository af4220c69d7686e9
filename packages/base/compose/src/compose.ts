/** Owns mounting a composition file and the handle on what it has mounted. */
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf, type World } from '@sluice/base'
import type { Context } from 'cordis'
import { type DeclaredPlugin, diagnose, isReady } from './doctor.ts'
import { composeErrors } from './errors.ts'
import { CompositionLoader } from './loader.ts'
import { readComposition } from './read.ts'
import { reportOf } from './report.ts'
import { endsWithin, settled } from './settle.ts'
import type { CompositionEntry, Diagnosis, Importer } from './types.ts'

/** How long plugins may take to settle, together. */
const SETTLE_MS = 30_000

export interface ComposeOptions {
  /** Absolute path of the composition file. */
  readonly file: string
  readonly world: Pick<World, 'clock' | 'disk'>
  readonly importer: Importer
  /** Lets a host add, drop or configure entries before they are mounted. Default: as in the file. */
  readonly adjust?: (entries: readonly CompositionEntry[]) => readonly CompositionEntry[]
  /** `keep`: what is mounted stays, whatever is missing; the diagnosis tells. Default `refuse`: everything is unmounted and an error says why. */
  readonly incomplete?: 'refuse' | 'keep'
  /** In ms. Default 30 000. */
  readonly settleMs?: number
}

/** A mounted composition. */
export interface Composed {
  readonly file: string
  /** As they were mounted, after `adjust`. */
  readonly entries: readonly CompositionEntry[]
  diagnose(): Promise<Diagnosis>
  /** Unmounts every plugin of the composition; nothing of it stays behind. */
  dispose(): Promise<void>
}

interface Imported {
  readonly modules: Map<string, unknown>
  readonly problems: Map<string, string>
}

/** All at once: the order of mounting does not depend on how long an import takes. */
async function importAll(entries: readonly CompositionEntry[], options: ComposeOptions): Promise<Imported> {
  const names = [...new Set(entries.filter((entry) => !entry.disabled).map((entry) => entry.name))]
  const modules = new Map<string, unknown>()
  const problems = new Map<string, string>()
  const results = await Promise.allSettled(names.map((name) => options.importer(name, options.file)))
  for (const [index, name] of names.entries()) {
    const result = results[index]
    if (result?.status === 'fulfilled') modules.set(name, result.value)
    else problems.set(name, messageOf(result?.reason))
  }
  return { modules, problems }
}

/** Services that a plugin module says it provides. */
export function declaredServices(module: unknown): string[] {
  if (typeof module !== 'object' || module === null) return []
  const plugin: unknown = 'default' in module ? module.default : module
  if (plugin === null || (typeof plugin !== 'object' && typeof plugin !== 'function')) return []
  const provide: unknown = 'provide' in plugin ? plugin.provide : undefined
  return [provide].flat().filter((name) => typeof name === 'string')
}

/** Mounts the entries one after another, in file order; resolves to what is known of each besides its fiber. */
async function mountAll(loader: CompositionLoader, entries: readonly CompositionEntry[], imported: Imported) {
  const declared: DeclaredPlugin[] = []
  for (const { id, name, config, disabled, line } of entries) {
    if (disabled) continue
    let problem = imported.problems.get(name)
    if (problem === undefined) {
      try {
        await loader.create({ name, config: structuredClone(config), id } as { name: string })
      } catch (error) {
        problem = messageOf(error)
      }
    }
    const provides = declaredServices(imported.modules.get(name))
    declared.push({ plugin: id, line, provides, ...(problem === undefined ? {} : { problem }) })
  }
  return declared
}

/** Mounts the composition in `ctx` and waits until it has settled.
 *  @throws COMPOSE_UNREADABLE, COMPOSE_YAML, COMPOSE_SHAPE, COMPOSE_NOT_READY; nothing that can be unmounted is mounted then */
export async function compose(ctx: Context, options: ComposeOptions): Promise<Composed> {
  const { file, settleMs = SETTLE_MS } = options
  const { clock } = options.world
  const read = await readComposition(options.world.disk, file)
  const entries = options.adjust?.(read.entries) ?? read.entries
  const imported = await importAll(entries, options)
  const baseUrl = pathToFileURL(`${dirname(file)}/`).href
  const mount = await ctx.plugin(CompositionLoader, { baseUrl, modules: imported.modules })
  const dispose = async () => {
    await mount.dispose()
  }
  try {
    const loader = ctx.get('loader') as CompositionLoader
    const declared = await mountAll(loader, entries, imported)
    await settled(ctx, clock, settleMs)
    const diagnosis = await diagnose(ctx, declared)
    if (options.incomplete !== 'keep' && !isReady(diagnosis)) {
      throw composeErrors('COMPOSE_NOT_READY', { file, report: reportOf(diagnosis), diagnosis })
    }
    return { file, entries, dispose, diagnose: () => diagnose(ctx, declared) }
  } catch (error) {
    // A plugin that does not settle does not unload either; the error is worth more than waiting for it.
    await endsWithin(clock, settleMs, dispose())
    throw error
  }
}
