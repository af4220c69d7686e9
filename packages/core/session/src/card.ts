/** Owns the words for showing a call or a result. */

/** How to show a call or a result; made by pure functions, stored in the log. `v` is the version of the card format. */
export type Card =
  | { readonly v: 1; readonly kind: 'generic'; readonly title: string; readonly text?: string }
  | {
      readonly v: 1
      readonly kind: 'terminal'
      readonly title: string
      readonly command: string
      readonly output?: string
      readonly exitCode?: number | null
    }
  | { readonly v: 1; readonly kind: 'diff'; readonly title: string; readonly path: string; readonly diff: string }
  | {
      readonly v: 1
      readonly kind: 'search'
      readonly title: string
      readonly query: string
      readonly hits?: number
      readonly text?: string
    }
  | { readonly v: 1; readonly kind: 'read'; readonly title: string; readonly path: string; readonly lines?: string }
  | { readonly v: 1; readonly kind: 'web'; readonly title: string; readonly url: string }
  | {
      readonly v: 1
      readonly kind: 'todo'
      readonly title: string
      readonly items: readonly { readonly text: string; readonly status: 'pending' | 'doing' | 'done' }[]
    }
