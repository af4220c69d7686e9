/** Owns comparing printed pages with those on disk. */
import { createTwoFilesPatch } from 'diff'
import { compare } from '@sluice/graph'
import type { Difference, Page } from './types.ts'

function difference(name: string, kind: Difference['kind'], before: string, after: string): Difference {
  const diff = createTwoFilesPatch(name, name, before, after, 'on disk', 'printed', { context: 2 })
  return { name, kind, diff: diff.slice(diff.indexOf('--- ')) }
}

/** What would change if `pages` were printed over `present` (page texts by file name); empty when nothing would. */
export function differences(pages: readonly Page[], present: ReadonlyMap<string, string>): Difference[] {
  const printed = new Set(pages.map((page) => page.name))
  const changed = pages.flatMap(({ name, text }) => {
    const before = present.get(name)
    if (before === text) return []
    return [difference(name, before === undefined ? 'missing' : 'different', before ?? '', text)]
  })
  const orphaned = [...present].filter(([name]) => !printed.has(name))
  return [...changed, ...orphaned.map(([name, before]) => difference(name, 'orphaned', before, ''))].sort((a, b) =>
    compare(a.name, b.name),
  )
}
