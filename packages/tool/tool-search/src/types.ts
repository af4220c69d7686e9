/** Owns the words of searches. */

/** What every search says besides its hits. */
export interface SearchNotes {
  /** Hits that exist and are not shown; `true` when more were not even counted. */
  readonly more: number | true
  /** Files that match and may not be read, or whose names cannot be written as text. */
  readonly withheld: number
  /** Something in the tree could not be read. */
  readonly unreadable: boolean
}

export interface GlobValue extends SearchNotes {
  /** Newest first; as other tools take them. */
  readonly paths: readonly string[]
}

export interface GrepLine {
  /** 1-based. */
  readonly line: number
  readonly text: string
  /** Beside a match, not one. */
  readonly context?: true
}

export interface GrepFile {
  readonly path: string
  readonly lines?: readonly GrepLine[]
  readonly count?: number
  /** Lines that match are too long to be looked at. */
  readonly tooLong?: true
}

export interface GrepValue extends SearchNotes {
  /** Newest first. */
  readonly files: readonly GrepFile[]
  /** Matches that are shown; for `files` and `count` the files. */
  readonly hits: number
  readonly what: 'content' | 'files' | 'count'
}
