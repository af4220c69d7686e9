/** Owns mounting a composition only to look at it. */
import type { World } from '@sluice/base'
import {
  type CompositionEntry,
  compose,
  type Diagnosis,
  declaredServices,
  type Importer,
  reportOf,
} from '@sluice/compose'
import { Listeners } from '@sluice/listeners'
import { Context } from 'cordis'
import { graphErrors } from './errors.ts'
import { refusingWorld } from './world.ts'

export interface BootOptions {
  /** Absolute path of the composition file. */
  readonly file: string
  /** How the composition is named: no path of this machine. */
  readonly title: string
  /** Reads the composition file and bounds the waiting. The plugins get another World, which refuses every effect. */
  readonly world: Pick<World, 'clock' | 'disk'>
  readonly importer: Importer
}

/** A composition that is mounted to be looked at. */
export interface Booted {
  readonly title: string
  readonly ctx: Context
  readonly entries: readonly CompositionEntry[]
  readonly diagnosis: Diagnosis
  /** Of any event, in dispatch order. */
  readonly listeners: Pick<Listeners, 'all'>
  /** By the name of the entry. */
  readonly modules: ReadonlyMap<string, unknown>
  dispose(): Promise<void>
}

/** The one service that is given. */
const GIVEN = 'world'

/** A plugin that would give what is already given is mounted without effect. */
function withoutGiven(importer: Importer, modules: Map<string, unknown>): Importer {
  return async (name, file) => {
    const module = await importer(name, file)
    modules.set(name, module)
    return declaredServices(module).includes(GIVEN) ? { name, apply: () => {} } : module
  }
}

/** Mounts the composition with a World that refuses effects. Plugins that wait for something are kept.
 *  @throws GRAPH_PLUGIN_FAILED, and what `compose` throws for a file that cannot be read */
export async function boot(options: BootOptions): Promise<Booted> {
  const { file, title, world } = options
  const ctx = new Context()
  ctx.provide(GIVEN, refusingWorld())
  const listeners = new Listeners(ctx)
  const modules = new Map<string, unknown>()
  const importer = withoutGiven(options.importer, modules)
  const composed = await compose(ctx, { file, world, importer, incomplete: 'keep' })
  const diagnosis = await composed.diagnose()
  const dispose = async () => {
    await composed.dispose()
    await ctx.fiber.dispose()
  }
  if (diagnosis.failed.length + diagnosis.unsettled.length > 0) {
    await dispose()
    throw graphErrors('GRAPH_PLUGIN_FAILED', { file, report: reportOf(diagnosis) })
  }
  return { title, ctx, entries: composed.entries, diagnosis, listeners, modules, dispose }
}

/** A service that is asked what there is.
 *  @throws GRAPH_SERVICE_MISSING */
export function serviceOf<Name extends keyof Context & string>(booted: Booted, service: Name): Context[Name] {
  const found: Context[Name] | undefined = booted.ctx.get(service)
  if (found !== undefined) return found
  throw graphErrors('GRAPH_SERVICE_MISSING', { file: booted.title, service, report: reportOf(booted.diagnosis) })
}
