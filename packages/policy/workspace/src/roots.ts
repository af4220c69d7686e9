/** Owns the allowed folders of a session, by their real paths. */
import { posix } from 'node:path'
import { type Fs, foldName, type Target } from '@sluice/fs'
import type { Session } from '@sluice/session'

export interface Root {
  readonly path: string
  readonly writable: boolean
}

export interface RootsConfig {
  /** Beside the working folder of the session. */
  roots: string[]
  readOnlyRoots: string[]
}

/** Real paths are taken when a session first needs them, so that a link swapped later moves no root, nor one that is put
 *  where a root was missing. */
export class Roots {
  private readonly fs: Fs
  private readonly config: RootsConfig
  private readonly known = new WeakMap<Session, readonly Root[]>()

  constructor(fs: Fs, config: RootsConfig) {
    this.fs = fs
    this.config = config
  }

  async of(session: Session): Promise<readonly Root[]> {
    const known = this.known.get(session)
    if (known) return known
    const { roots, readOnlyRoots } = this.config
    const wanted = [
      ...[session.cwd, ...roots].map((path) => ({ path, writable: true })),
      ...readOnlyRoots.map((path) => ({ path, writable: false })),
    ]
    const targets = await Promise.all(wanted.map(({ path }) => this.fs.resolve(path, session)))
    const all = targets.map((target, i) => ({ path: target.path, writable: wanted[i]?.writable === true }))
    this.known.set(session, all)
    return all
  }
}

/** The deepest root that holds the target; of two on the same folder the read-only one. */
export function rootOf(roots: readonly Root[], target: Target): Root | undefined {
  let best: Root | undefined
  for (const root of roots) {
    if (!holds(root.path, target)) continue
    const isDeeper = best === undefined || root.path.length > best.path.length
    if (isDeeper || (root.path.length === best?.path.length && !root.writable)) best = root
  }
  return best
}

export function holds(folder: string, { path, folded }: Pick<Target, 'path' | 'folded'>): boolean {
  const [above, below] = folded ? [foldName(folder), foldName(path)] : [folder, path]
  return below === above || below.startsWith(above === '/' ? '/' : `${above}/`)
}

/** The path of the target below `root`. */
export function below(root: Root, { path }: Pick<Target, 'path'>): string {
  return posix.relative(root.path, path) || '.'
}
