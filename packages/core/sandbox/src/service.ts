/** Owns `ctx.sandbox`: which adapter is in force, what a start needs, and starting it. */
import { hasConsent } from '@sluice/approval'
import { type Child, messageOf, type SpawnOptions, type World } from '@sluice/base'
import type { Session } from '@sluice/session'
import type { Disposer } from '@sluice/tools'
import { type Context, Service } from 'cordis'
import { sandboxErrors } from './errors.ts'
import { covers } from './hosts.ts'
import { Places, type PlacesConfig } from './places.ts'
import { confinementText, hostsReason, noneReason, refusedReason, sectionText, unconfinedReason } from './prompt.ts'
import type {
  AdapterState,
  Appeared,
  Judgement,
  Sandbox,
  SandboxAdapter,
  SandboxMode,
  SandboxStatus,
  Start,
  Wants,
  WorkspaceFolder,
} from './types.ts'

export interface SandboxConfig extends PlacesConfig {
  mode: SandboxMode
  hosts: readonly string[]
  unavailable: 'ask' | 'run' | 'refuse'
}

interface Mounted {
  readonly adapter: SandboxAdapter
  readonly state: Promise<AdapterState>
  known: AdapterState | undefined
}

const fullWhy = 'its mode is full'

export class SandboxService extends Service implements Sandbox {
  private mounted: Mounted | undefined
  private readonly world: World
  private readonly config: SandboxConfig
  private readonly places: Places
  private readonly folders: ((session: Session) => Promise<readonly WorkspaceFolder[]>)[] = []

  constructor(ctx: Context, config: SandboxConfig) {
    super(ctx, 'sandbox')
    this.world = ctx.world
    this.config = config
    this.places = new Places({
      disk: ctx.world.disk,
      host: ctx.world.host,
      config,
      folders: (session) => this.saidFolders(session),
    })
  }

  adapter(adapter: SandboxAdapter): Disposer {
    return this.ctx.effect(
      () => {
        this.mount(adapter)
        return () => {
          this.mounted = undefined
        }
      },
      `ctx.sandbox.adapter(${JSON.stringify(adapter.name)})`,
    )
  }

  workspace(folders: (session: Session) => Promise<readonly WorkspaceFolder[]>): Disposer {
    return this.ctx.effect(() => {
      this.folders.push(folders)
      return () => void this.folders.splice(this.folders.indexOf(folders), 1)
    }, 'ctx.sandbox.workspace')
  }

  status(): Promise<SandboxStatus> {
    return this.statusWith(this.mounted)
  }

  async describe(): Promise<string> {
    const status = await this.status()
    if (status.kind === 'none') return `none: ${status.why}. ${status.remedy}`
    const { by, mode, hosts } = status
    return `${by}, ${mode}, network: ${hosts.length === 0 ? 'none' : hosts.join(', ')}`
  }

  async limits({ hosts: further = [], unconfined = false }: Wants = {}): Promise<string | undefined> {
    const status = await this.status()
    if (status.kind === 'none' || unconfined) return undefined
    return confinementText(status.mode, [...new Set([...status.hosts, ...further])])
  }

  /** What the system prompt says: empty until the check of the adapter has shown that it confines. */
  section(): string {
    const { mode, hosts } = this.config
    return mode !== 'full' && this.mounted?.known?.available ? sectionText(confinementText(mode, hosts)) : ''
  }

  appeared(session: Session): Promise<Appeared> {
    return this.places.appeared(session)
  }

  async judge(wants: Wants): Promise<Judgement> {
    return this.judged(await this.status(), wants)
  }

  async spawn(options: SpawnOptions, start: Start): Promise<Child> {
    const { mounted, world, config } = this
    const wants = start.wants ?? {}
    const status = await this.statusWith(mounted)
    const judgement = this.judged(status, wants)
    if (judgement.kind === 'refuse') throw sandboxErrors('SANDBOX_REFUSED', { reason: judgement.reason })
    if (judgement.kind === 'ask' && !agreed(start, judgement.rule)) {
      throw sandboxErrors('SANDBOX_NOT_AGREED', { reason: judgement.reason })
    }
    if (status.kind === 'none' || wants.unconfined) return world.processes.spawn(options)
    const hosts = [...new Set([...config.hosts, ...(wants.hosts ?? [])])]
    const confinement = await this.places.of(start.session, status.mode, hosts)
    const child = await (mounted as Mounted).adapter.spawn(options, confinement)
    this.places.started(start.session, child.exited)
    return child
  }

  private async saidFolders(session: Session): Promise<readonly WorkspaceFolder[]> {
    return (await Promise.all(this.folders.map((each) => each(session)))).flat()
  }

  private mount(adapter: SandboxAdapter): void {
    if (this.mounted) {
      throw sandboxErrors('SANDBOX_TAKEN', { adapter: adapter.name, mounted: this.mounted.adapter.name })
    }
    const state = adapter.check().catch((error: unknown): AdapterState => {
      return { available: false, why: messageOf(error), remedy: `Repair the sandbox ${adapter.name}.` }
    })
    const entry: Mounted = { adapter, state, known: undefined }
    this.mounted = entry
    void state.then((known) => {
      entry.known = known
    })
  }

  private async statusWith(mounted: Mounted | undefined): Promise<SandboxStatus> {
    const { mode, hosts } = this.config
    if (mode === 'full') return { kind: 'none', why: fullWhy, remedy: 'Set another mode.' }
    if (!mounted) return { kind: 'none', why: 'no adapter is mounted', remedy: 'Mount a sandbox adapter.' }
    const state = await mounted.state
    if (!state.available) return { kind: 'none', why: state.why, remedy: state.remedy }
    return { kind: 'confined', by: state.detail, mode, hosts }
  }

  private judged(status: SandboxStatus, { hosts = [], unconfined = false }: Wants): Judgement {
    const { mode, unavailable } = this.config
    if (status.kind === 'none') {
      if (mode === 'full' || unavailable === 'run') return { kind: 'within' }
      if (unavailable === 'refuse') return { kind: 'refuse', reason: refusedReason(status.why), remedy: status.remedy }
      return { kind: 'ask', rule: unconfinedRule, reason: noneReason(status.why) }
    }
    if (unconfined) return { kind: 'ask', rule: unconfinedRule, reason: unconfinedReason }
    const further = hosts.filter((host) => !status.hosts.some((pattern) => covers(pattern, host)))
    if (further.length === 0) return { kind: 'within' }
    return { kind: 'ask', rule: `sandbox: reach ${[...further].sort().join(' ')}`, reason: hostsReason(further) }
  }
}

const unconfinedRule = 'sandbox: run without confinement'

function agreed({ session, callId }: Start, rule: string): boolean {
  return callId !== undefined && hasConsent(session, callId, rule)
}
