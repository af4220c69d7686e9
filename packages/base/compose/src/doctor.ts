/** Owns saying why a composition is not ready: what failed, what waits for what, and who waits in a circle. */
import { messageOf } from '@sluice/base'
import type { Context, Fiber } from 'cordis'
import { cyclesOf } from './cycles.ts'
import { fibersOf, mounted, ownEntry, stateOf } from './mounted.ts'
import type { Diagnosis, FailedPlugin, MissingService, PendingPlugin, PluginState } from './types.ts'

/** What a composition knows of an entry besides what is mounted. */
export interface DeclaredPlugin {
  readonly plugin: string
  readonly line: number
  /** Services that its module declares. */
  readonly provides: readonly string[]
  /** Why it could not be mounted at all. */
  readonly problem?: string
}

/** A plugin as the doctor looks at it: declared, mounted, or both. */
interface Subject {
  readonly plugin: string
  readonly line: number | undefined
  readonly state: PluginState
  readonly provides: readonly string[]
  readonly missing: readonly string[]
  readonly problem: string | undefined
}

async function problemOf(fiber: Fiber): Promise<string | undefined> {
  if (stateOf(fiber) !== 'failed') return undefined
  try {
    await fiber.await()
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

function unmounted(declared: DeclaredPlugin): Subject {
  const { plugin, line, provides, problem } = declared
  return { plugin, line, provides, problem, missing: [], state: 'failed' }
}

function labelOf(fiber: Fiber): string {
  const own = ownEntry(fiber) ?? (fiber.runtime?.name || 'a nameless part')
  const parent = fiber.parent.fiber
  return ownEntry(fiber) === undefined && parent.uid !== 0 ? `${own} (in ${labelOf(parent)})` : own
}

/** A plugin inside another may wait for ever: that is how an optional dependency is written. */
function mayWait(fiber: Fiber): boolean {
  return ownEntry(fiber) === undefined && fiber.parent.fiber.uid !== 0
}

async function subjectsOf(ctx: Context, declared: readonly DeclaredPlugin[]): Promise<Subject[]> {
  const byPlugin = new Map(declared.map((entry) => [entry.plugin, entry]))
  const provides = new Map(mounted(ctx).map((plugin) => [plugin.uid, plugin.provides]))
  const subjects: Subject[] = []
  for (const fiber of fibersOf(ctx)) {
    const plugin = labelOf(fiber)
    const entry = ownEntry(fiber) === undefined ? undefined : byPlugin.get(plugin)
    byPlugin.delete(plugin)
    const state = stateOf(fiber)
    if (state === 'pending' && mayWait(fiber)) continue
    const missing = Object.keys(fiber.inject).filter((name) => fiber.ctx.get(name) === undefined)
    subjects.push({
      plugin,
      line: entry?.line,
      state,
      provides: [...new Set([...(entry?.provides ?? []), ...(provides.get(fiber.uid ?? -1) ?? [])])],
      missing: state === 'pending' ? missing.sort() : [],
      problem: await problemOf(fiber),
    })
  }
  return [...subjects, ...[...byPlugin.values()].map(unmounted)]
}

function byName<T extends { readonly plugin: string }>(list: readonly T[]): T[] {
  return [...list].sort((a, b) => (a.plugin < b.plugin ? -1 : a.plugin > b.plugin ? 1 : 0))
}

function dependentsOf(failed: Subject, subjects: readonly Subject[]): string[] {
  const found = new Set<Subject>()
  const open = [failed]
  for (let provider = open.pop(); provider !== undefined; provider = open.pop()) {
    for (const subject of subjects) {
      if (found.has(subject) || !subject.missing.some((name) => provider?.provides.includes(name))) continue
      found.add(subject)
      open.push(subject)
    }
  }
  return [...found].map((subject) => subject.plugin).sort()
}

function missingOf(service: string, subjects: readonly Subject[]): MissingService {
  const providers = byName(subjects.filter((subject) => subject.provides.includes(service)))
  return { service, providers: providers.map(({ plugin, state }) => ({ plugin, why: state })) }
}

/** What waits for a service that nobody gives comes first: whoever waits for it in turn is not the cause. */
function causesFirst(list: readonly PendingPlugin[]): PendingPlugin[] {
  const isCause = ({ missing }: PendingPlugin) => missing.some(({ providers }) => providers.length === 0)
  return [...list.filter(isCause), ...list.filter((plugin) => !isCause(plugin))]
}

function waitsFor(subject: Subject, subjects: readonly Subject[]): string[] {
  const providers = subjects.filter((other) => subject.missing.some((name) => other.provides.includes(name)))
  return providers.map((provider) => provider.plugin)
}

/** What keeps the plugins mounted in `ctx`, and those of `declared` that are not mounted, from being ready. */
export async function diagnose(ctx: Context, declared: readonly DeclaredPlugin[] = []): Promise<Diagnosis> {
  const subjects = await subjectsOf(ctx, declared)
  const inState = (...states: Subject['state'][]) => byName(subjects.filter(({ state }) => states.includes(state)))
  const pending = inState('pending')
  return {
    failed: inState('failed').map(
      (subject): FailedPlugin => ({
        plugin: subject.plugin,
        line: subject.line,
        problem: subject.problem ?? 'it could not be mounted',
        dependents: dependentsOf(subject, subjects),
      }),
    ),
    pending: causesFirst(
      pending.map(({ plugin, missing }) => ({
        plugin,
        missing: missing.map((service) => missingOf(service, subjects)),
      })),
    ),
    unsettled: inState('loading', 'unloading').map((subject) => subject.plugin),
    cycles: cyclesOf(new Map(pending.map((subject) => [subject.plugin, waitsFor(subject, pending)]))),
  }
}

/** True when nothing keeps the composition from being used. */
export function isReady(diagnosis: Diagnosis): boolean {
  return diagnosis.failed.length + diagnosis.pending.length + diagnosis.unsettled.length === 0
}
