/** Owns the words of sandboxes: modes, confinements and the port that an adapter fills. */
import type { Child, SpawnOptions } from '@sluice/base'
import type { Session } from '@sluice/session'
import type {} from 'cordis'

/** `read-only`: nothing can be written. `workspace-write`: the allowed roots can. `full`: no confinement. */
export type SandboxMode = 'read-only' | 'workspace-write' | 'full'

export interface Confinement {
  readonly mode: SandboxMode
  /** Absolute paths that may be written under `workspace-write`. */
  readonly writable: readonly string[]
  /** Absolute paths inside `writable` that stay read-only: files that grant authority. */
  readonly protected: readonly string[]
  /** Absolute paths that may not even be read. */
  readonly hidden: readonly string[]
  /** Hosts that may be reached; empty for no network. `full` ignores it. */
  readonly hosts: readonly string[]
}

/** The port that an adapter fills, provided as `ctx.sandboxAdapter`. `./contract` holds the cases it must pass. */
export interface SandboxAdapter {
  /** Shown to people, such as `bubblewrap` or `none`. */
  readonly kind: string
  /** False for an adapter that confines nothing. */
  readonly confines: boolean
  /** Why it cannot work on this machine; `undefined` when it can. */
  unavailable(): Promise<string | undefined>
  /** The command that runs `command` confined, and what to do when it has ended. */
  wrap(
    command: SpawnOptions,
    confinement: Confinement,
  ): Promise<{ readonly command: SpawnOptions; release(): Promise<void> }>
}

export interface SandboxStatus {
  readonly kind: string
  /** True when processes are confined. */
  readonly confines: boolean
  readonly mode: SandboxMode
  /** Why nothing is confined, if so. */
  readonly why?: string
}

/** `ctx.sandbox`. Every process that a tool starts goes through it. */
export interface Sandbox {
  /** What is in force for a session. */
  status(session: Session): Promise<SandboxStatus>
  /** Starts `command` under the confinement of `session`; `wants` asks for more than the mode gives.
   *  @throws SANDBOX_UNAVAILABLE, SANDBOX_REFUSED */
  spawn(command: SpawnOptions, session: Session, wants?: { readonly mode?: SandboxMode }): Promise<Child>
}

declare module 'cordis' {
  interface Context {
    sandbox: Sandbox
    sandboxAdapter: SandboxAdapter
  }
}
