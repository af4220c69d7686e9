/** Owns the words of the sandbox: modes, what a start is held to, the port of adapters, what is in force. */
import type {} from 'cordis'
import type { Child, SpawnOptions } from '@sluice/base'
import type { Session } from '@sluice/session'
import type { Disposer } from '@sluice/tools'

/** `read-only`: nothing but a private folder for temporary files is writable. `workspace-write`: the folder of the session as
 *  well, without the files that grant authority. `full`: no confinement. */
export type SandboxMode = ConfinedMode | 'full'
export type ConfinedMode = 'read-only' | 'workspace-write'

/** What one start is held to. Paths are absolute and real. */
export interface Confinement {
  /** Folders that the process sees, whatever else is hidden; the working folder is below one of them. */
  readonly workspace: readonly string[]
  /** Whether it may write below them. */
  readonly access: 'read' | 'write'
  /** Folders that are only read, also below one of the workspace; one of the workspace may be below them. */
  readonly readOnly: readonly string[]
  /** Never written, not even below a writable folder. A path that is not there must not come into being. */
  readonly protected: readonly string[]
  /** Of those, paths where only a file may stand for what is not there, by what it must hold. */
  readonly standIns: ReadonlyMap<string, string>
  /** Folders that look empty, and files that cannot be read. */
  readonly hidden: readonly string[]
  /** Hosts that can be reached over HTTP and HTTPS: `name`, `*.name`, each with or without `:port`. Empty: no network at all. */
  readonly hosts: readonly string[]
  /** Starts with the same key share their folder for temporary files. */
  readonly scratch: string
}

export type AdapterState =
  | { readonly available: true /** What confines, with its version. */; readonly detail: string }
  | { readonly available: false; readonly why: string; readonly remedy: string }

/** What an adapter fills in. Its `spawn` keeps the promises of `Processes.spawn`, but that a signal which ended the program
 *  inside may be told as exit code 128 + n; also what left the group counts as of it, and dies with the host. */
export interface SandboxAdapter {
  readonly name: string
  /** Whether it can confine here. Never rejects; asked once. */
  check(): Promise<AdapterState>
  /** Never starts anything that is not confined: rejects instead. */
  spawn(options: SpawnOptions, confinement: Confinement): Promise<Child>
}

/** More than the mode gives. */
export interface Wants {
  /** Hosts beside those of the configuration. */
  readonly hosts?: readonly string[]
  /** No confinement at all. */
  readonly unconfined?: boolean
}

export interface Start {
  readonly session: Session
  /** The call on whose behalf it starts: a person agrees to one call. */
  readonly callId?: string
  readonly wants?: Wants
}

/** What a start would need. */
export type Judgement =
  | { readonly kind: 'within' }
  /** A person has to agree, to an ask that carries exactly this rule. */
  | { readonly kind: 'ask'; readonly rule: string; readonly reason: string }
  | { readonly kind: 'refuse'; readonly reason: string; readonly remedy: string }

/** A folder that counts as workspace of a session beside its working folder, or one that is only read; by its real path. */
export interface WorkspaceFolder {
  readonly path: string
  readonly writable: boolean
}

/** Files that grant authority, such as a new repository with its hooks: later starts have them read-only. */
export interface Appeared {
  /** Each by its path; a link also with where it leads. */
  readonly paths: readonly string[]
  /** Not every folder of the workspace could be looked into, or not all of them protected: some may be unprotected. */
  readonly cut: boolean
}

/** What is in force. */
export type SandboxStatus =
  | { readonly kind: 'confined'; readonly by: string; readonly mode: ConfinedMode; readonly hosts: readonly string[] }
  | { readonly kind: 'none'; readonly why: string; readonly remedy: string }

/** `ctx.sandbox`. */
export interface Sandbox {
  status(): Promise<SandboxStatus>
  /** One sentence for a person: what is in force, or why nothing is. */
  describe(): Promise<string>
  /** What a start is held to, for a model to read; nothing where it is not confined. */
  limits(wants?: Wants): Promise<string | undefined>
  /** Mounts an adapter for as long as the calling plugin is mounted.
   *  @throws SANDBOX_TAKEN */
  adapter(adapter: SandboxAdapter): Disposer
  /** Says which folders count as workspace, unless the configuration does, for as long as the calling plugin is mounted. */
  workspace(folders: (session: Session) => Promise<readonly WorkspaceFolder[]>): Disposer
  /** What has come into being since a confined process of the session was started, or since this was asked. */
  appeared(session: Session): Promise<Appeared>
  judge(wants: Wants): Promise<Judgement>
  /** Starts a process as the judgement on it allows, at the moment of the start.
   *  @throws SANDBOX_NOT_AGREED, SANDBOX_REFUSED, and what starting a process throws */
  spawn(options: SpawnOptions, start: Start): Promise<Child>
}

declare module 'cordis' {
  interface Context {
    sandbox: Sandbox
  }
}
