/** Owns the ways in which a call ends. */

export type Executed = 'yes' | 'no' | 'unknown'

/** How a call ended. Exactly one per call. */
export type Outcome =
  | { readonly tag: 'succeeded'; readonly executed: Executed; readonly late?: true }
  | {
      readonly tag: 'failed'
      readonly executed: Executed
      readonly code: string
      readonly message: string
      readonly by?: string
    }
  | {
      readonly tag: 'denied'
      readonly executed: 'no'
      readonly stage: string
      readonly by: string
      readonly reason: string
      readonly code?: string
      readonly rule?: string
    }
  | { readonly tag: 'aborted'; readonly executed: Executed; readonly reason: string }
  | { readonly tag: 'timed-out'; readonly executed: Executed; readonly reason: string; readonly by?: string }
  | {
      readonly tag: 'invalid'
      readonly executed: 'no'
      readonly problems: readonly { readonly path: string; readonly problem: string }[]
      readonly by?: string
    }
  | { readonly tag: 'unknown-tool'; readonly executed: 'no'; readonly nearest: readonly string[] }
  | { readonly tag: 'interrupted'; readonly executed: Executed }
