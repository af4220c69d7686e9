/** Owns the judgement of one target: inside, writable, secret, protected, or granting authority. */
import type { Fs, Target } from '@sluice/fs'
import type { Session } from '@sluice/session'
import { type WorkspaceCode, workspaceErrors } from './errors.ts'
import { Patterns } from './patterns.ts'
import { below, holds, type Root, rootOf, Roots, type RootsConfig } from './roots.ts'

export interface JudgeConfig extends RootsConfig {
  secrets: string[]
  authority: string[]
  authorityPaths: string[]
  authorityWrites: 'ask' | 'deny'
  protectedPaths: string[]
}

export interface Refusal {
  readonly code: WorkspaceCode
  readonly reason: string
  readonly remedy: string
}

export class Judge {
  private readonly fs: Fs
  private readonly config: JudgeConfig
  private readonly roots: Roots
  private readonly secrets: Patterns
  private readonly authority: Patterns

  constructor(fs: Fs, config: JudgeConfig) {
    this.fs = fs
    this.config = config
    this.roots = new Roots(fs, config)
    this.secrets = new Patterns(config.secrets)
    this.authority = new Patterns(config.authority)
  }

  /** The folders that this policy lets tools use. */
  folders(session: Session): Promise<readonly Root[]> {
    return this.roots.of(session)
  }

  /** What holds whoever asks; the files that grant authority are left to {@link grants}. */
  async refusal(target: Target, access: 'read' | 'write', session: Session): Promise<Refusal | undefined> {
    const roots = await this.roots.of(session)
    const root = rootOf(roots, target)
    const named = { path: target.given, real: target.path }
    if (!root) return refuse('WORKSPACE_OUTSIDE', { ...named, roots: roots.map(({ path }) => path) })
    if (access === 'read') {
      return this.secrets.match(below(root, target), target.folded) ? refuse('WORKSPACE_SECRET', named) : undefined
    }
    if (!root.writable) return refuse('WORKSPACE_READ_ONLY', { ...named, root: root.path })
    if (await this.isOneOf(this.config.protectedPaths, target, session)) return refuse('WORKSPACE_PROTECTED', named)
    const isDenied = this.config.authorityWrites === 'deny' && (await this.isAuthority(root, target, session))
    return isDenied ? refuse('WORKSPACE_AUTHORITY', named) : undefined
  }

  /** Why a person must agree to a change of the target; `undefined` for ordinary files. */
  async grants(target: Target, session: Session): Promise<Refusal | undefined> {
    const root = rootOf(await this.roots.of(session), target)
    if (!root || !(await this.isAuthority(root, target, session))) return undefined
    return refuse('WORKSPACE_AUTHORITY', { path: target.given, real: target.path })
  }

  private async isAuthority(root: Root, target: Target, session: Session): Promise<boolean> {
    if (this.authority.match(below(root, target), target.folded)) return true
    return this.isOneOf(this.config.authorityPaths, target, session)
  }

  private async isOneOf(paths: readonly string[], target: Target, session: Session): Promise<boolean> {
    for (const path of paths) {
      const folder = await this.fs.resolve(path, session)
      if (folder.key === target.key || holds(folder.path, target)) return true
    }
    return false
  }
}

function refuse<Code extends WorkspaceCode>(code: Code, data: Parameters<typeof workspaceErrors<Code>>[1]): Refusal {
  const { message, remedy } = workspaceErrors(code, data)
  return { code, reason: message, remedy }
}
