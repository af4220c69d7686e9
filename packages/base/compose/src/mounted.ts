/** Owns the live view: every plugin that is mounted now, with what it needs, gives and listens to. */
import type { Context, Fiber } from 'cordis'
import type { MountedPlugin, PluginState } from './types.ts'

/** In the order of the framework's numbers, which it does not export at run time. */
const states: readonly PluginState[] = ['pending', 'loading', 'active', 'failed', 'disposed', 'unloading']

export function stateOf(fiber: Fiber): PluginState {
  return states[fiber.state] ?? 'failed'
}

/** Every plugin mounted below the root, in the order of mounting. */
export function fibersOf(ctx: Context): Fiber[] {
  const fibers = [...ctx.registry.values()].flatMap((runtime) => [...runtime.fibers])
  return fibers.filter((fiber) => fiber.uid !== null).sort((a, b) => Number(a.uid) - Number(b.uid))
}

interface Effect {
  readonly label: string
  readonly children: readonly Effect[]
}

function* labelsOf(effects: readonly Effect[]): Generator<string> {
  for (const effect of effects) {
    yield effect.label
    yield* labelsOf(effect.children)
  }
}

function providesOf(ctx: Context): Map<Fiber, string[]> {
  const provides = new Map<Fiber, string[]>()
  for (const key of Reflect.ownKeys(ctx.reflect.store)) {
    const impl = ctx.reflect.store[key as symbol]
    if (impl !== undefined) provides.set(impl.fiber, [...(provides.get(impl.fiber) ?? []), impl.name])
  }
  return provides
}

/** Every plugin that is mounted now, in the order of mounting. */
export function mounted(ctx: Context): MountedPlugin[] {
  const provides = providesOf(ctx)
  return fibersOf(ctx).map((fiber) => {
    // A plugin's own effects tell what it has added; the options of a listener cannot disown it.
    const effects = [...labelsOf(fiber.getEffects())].sort()
    return {
      name: fiber.runtime?.name ?? '',
      uid: fiber.uid ?? -1,
      entry: ownEntry(fiber),
      parent: fiber.parent.fiber.uid ?? -1,
      state: stateOf(fiber),
      config: fiber.config as unknown,
      injects: Object.keys(fiber.inject).sort(),
      provides: (provides.get(fiber) ?? []).sort(),
      listens: effects.flatMap((label) => /^ctx\.on\("(.*)"\)$/.exec(label)?.[1] ?? []),
      effects,
    }
  })
}

/** The id of the entry that mounted this plugin itself; plugins that it mounts in turn have none. */
export function ownEntry(fiber: Fiber): string | undefined {
  return fiber.entry !== undefined && fiber.parent.fiber.entry !== fiber.entry ? fiber.entry.options.id : undefined
}
