/** Owns the words of printed documentation. */

import type { StageTable } from '@sluice/pipeline'

/** A page of the reference. */
export interface Page {
  /** File name, without a folder. */
  readonly name: string
  readonly text: string
}

/** A way in which the pages on disk are not those that the composition gives. */
export interface Difference {
  readonly name: string
  readonly kind: 'missing' | 'different' | 'orphaned'
  /** Unified diff from the page on disk to the printed one. */
  readonly diff: string
}

export interface PageOptions {
  /** Default: the table of a tool call. */
  readonly stages?: StageTable
  /** Types of listeners, by event. */
  readonly signatures?: ReadonlyMap<string, string>
}
