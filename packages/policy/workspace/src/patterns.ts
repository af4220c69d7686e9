/** Owns matching paths against name patterns, folded where the volume folds names. */
import { posix } from 'node:path'
import { AUTHORITY_PLACES, COMPOSITION, foldName } from '@sluice/fs'
import picomatch from 'picomatch'

/** Keys, and files that hold them by convention. */
export const SECRETS = [
  '.env',
  '.env.*',
  '!.env.example',
  '!.env.sample',
  '!.env.template',
  '*.pem',
  '*.key',
  '*.p12',
  '*.pfx',
  'id_rsa',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
  '.netrc',
]

/** Files by which a folder decides what tools may do, or what runs. */
export const AUTHORITY = [
  ...AUTHORITY_PLACES.flatMap((place) => [`**/${place}`, `**/${place}/**`]),
  COMPOSITION,
  'sluice.*.yml',
]

interface Matcher {
  readonly exact: (text: string) => boolean
  readonly folded: (text: string) => boolean
  readonly negated: boolean
  /** Compared with the last part of the path only. */
  readonly byName: boolean
}

export class Patterns {
  private readonly matchers: readonly Matcher[]

  /** As in an ignore file: without a slash a pattern is for names at any depth; `!` takes back what earlier ones matched. */
  constructor(patterns: readonly string[]) {
    this.matchers = patterns.map((pattern) => {
      const negated = pattern.startsWith('!')
      const bare = negated ? pattern.slice(1) : pattern
      const exact = picomatch(bare, { dot: true })
      const folded = picomatch(foldName(bare), { dot: true })
      return { exact, folded, negated, byName: !bare.includes('/') }
    })
  }

  /** `relative` is the path below the root it was found in. */
  match(relative: string, isFolded: boolean): boolean {
    const path = isFolded ? foldName(relative) : relative
    const name = posix.basename(path)
    let matched = false
    for (const { exact, folded, negated, byName } of this.matchers) {
      if (negated === matched && (isFolded ? folded : exact)(byName ? name : path)) matched = !negated
    }
    return matched
  }
}
