/** Owns which listeners an event has: Cordis' hooks compiled into sorted arrays, each with its true owner. */
import type { Context, Fiber } from 'cordis'
import { counts, scopeOf } from './scope.ts'

type Callback = (...args: never[]) => unknown

export interface Listener {
  readonly event: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly call: (...args: any[]) => unknown
  /** Of its plugin; marked as unverified when the registration was not seen: such a name is only a claim. */
  readonly name: string
  /** `name#uid`. */
  readonly plugin: string
  /** What the composition calls the plugin that this is a part of; `undefined` for one that the composition did not mount. */
  readonly mountedAs: string | undefined
  readonly order: number
  readonly scope: string | undefined
  readonly life: Life
  /** False once the registration has been taken away. */
  mounted(): boolean
}

/** From a plugin's start to the end of its unloading. */
interface Life {
  over: boolean
}

interface Hook {
  readonly ctx: Context
  readonly callback: Callback & { [bareKey]?: Callback }
  readonly order?: unknown
}

interface Owner {
  readonly fiber: Fiber
  readonly scope: string | undefined
  readonly life: Life
}

interface Compiled {
  readonly kept: readonly Hook[]
  readonly list: readonly Listener[]
  readonly scoped: boolean
}

const bareKey = Symbol.for('sluice.bare-listener')

/** Marks a listener so that it is called without Cordis' argument-tracing proxy. For listeners that take plain data only. */
export function bare<F extends Callback>(listener: F): F {
  return Object.defineProperty(listener, bareKey, { value: listener })
}

export function pluginLabel(fiber: Fiber): string {
  return `${fiber.name}#${fiber.uid ?? 'gone'}`
}

const none: readonly Listener[] = []
/** `FiberState.UNLOADING`; the enum is erased, the pin test holds the number. */
const UNLOADING: number = 5

/** Watches who registers listeners, for as long as the plugin of `ctx` is mounted. */
export class Listeners {
  private readonly root: Context
  private readonly hooks: Record<string, Hook[] | undefined>
  private readonly owners = new WeakMap<Callback, Owner>()
  private readonly lives = new WeakMap<Fiber, Life>()
  private readonly compiled = new Map<string, Compiled>()

  constructor(ctx: Context) {
    this.root = ctx.root
    this.hooks = ctx.events._hooks as unknown as Record<string, Hook[] | undefined>
    const { owners, lives } = this
    const lifeOf = (fiber: Fiber) => this.lifeOf(fiber)
    ctx.on('internal/listener', function (this: Context, _name, callback) {
      const { fiber } = this
      owners.set(callback as Callback, { fiber, scope: scopeOf(this), life: lifeOf(fiber) })
    })
    ctx.on('internal/status', (fiber, before) => {
      if (before !== UNLOADING) return
      lifeOf(fiber).over = true
      lives.delete(fiber)
    })
  }

  /** Those that count at `place` now, in dispatch order: by `order`, then by plugin. */
  of(event: string, place: string | undefined): readonly Listener[] {
    const hooks = this.hooks[event]
    if (!hooks || hooks.length === 0) return none
    let entry = this.compiled.get(event)
    if (!entry || !same(entry.kept, hooks)) {
      const list = this.compile(event, hooks)
      entry = { kept: [...hooks], list, scoped: list.some((listener) => listener.scope !== undefined) }
      this.compiled.set(event, entry)
    }
    return entry.scoped ? entry.list.filter((listener) => counts(listener.scope, place)) : entry.list
  }

  all(event: string): readonly Listener[] {
    const hooks = this.hooks[event]
    return hooks ? this.compile(event, hooks) : none
  }

  private lifeOf(fiber: Fiber): Life {
    let life = this.lives.get(fiber)
    if (!life) this.lives.set(fiber, (life = { over: false }))
    return life
  }

  private compile(event: string, hooks: readonly Hook[]): Listener[] {
    const list = hooks.map((hook): Listener => {
      const owner = this.owners.get(hook.callback)
      // The context in the hook is what an option of `ctx.on` said.
      const fiber = owner?.fiber ?? hook.ctx.fiber
      const claim = owner ? '' : 'unverified '
      return {
        event,
        call: hook.callback[bareKey] ?? hook.callback,
        name: `${claim}${fiber.name}`,
        plugin: `${claim}${pluginLabel(fiber)}`,
        mountedAs: owner ? mountedAs(fiber, this.root) : undefined,
        order: typeof hook.order === 'number' && Number.isFinite(hook.order) ? hook.order : 0,
        scope: owner ? owner.scope : scopeOf(hook.ctx),
        life: owner?.life ?? this.lifeOf(fiber),
        mounted: () => hooks.includes(hook),
      }
    })
    return list.sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }
}

type Mounted = Fiber & { readonly entry?: { readonly options: { readonly id?: string } } }

/** A part of a plugin is called as that plugin is: by the id of its entry, or, where no composition file was loaded, by the
 *  name of what was mounted at the root. */
function mountedAs(fiber: Fiber, root: Context): string | undefined {
  let part = fiber as Mounted
  for (;;) {
    const above = part.parent.fiber as Mounted
    if (part.entry && part.entry !== above.entry) return part.entry.options.id?.replace(/^@sluice\//, '')
    if (part === above || above.uid === 0) break
    part = above
  }
  return root.get('loader') === undefined ? part.name : undefined
}

function same(kept: readonly Hook[], now: readonly Hook[]): boolean {
  if (kept.length !== now.length) return false
  for (let i = 0; i < kept.length; i++) if (kept[i] !== now[i]) return false
  return true
}
