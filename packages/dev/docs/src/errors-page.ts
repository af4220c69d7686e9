/** Owns the page of errors: each code, when it happens and what to do about it. */
import * as base from '@sluice/base'
import * as composing from '@sluice/compose'
import * as listeners from '@sluice/listeners'
import * as pipeline from '@sluice/pipeline'
import { type Booted, compare } from '@sluice/graph'
import { code, page, table } from './markdown.ts'
import type { Page } from './types.ts'

/** Packages that are below every composition, so that no entry names them. */
const foundations: readonly unknown[] = [base, composing, listeners, pipeline]

interface Row {
  readonly when: string
  readonly remedy: string
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && 'when' in value && 'remedy' in value
}

/** Rows of the error tables that a module exports. */
function rowsIn(module: unknown): [string, Row][] {
  if (typeof module !== 'object' || module === null) return []
  return Object.values(module).flatMap((exported: unknown): [string, Row][] => {
    if (typeof exported !== 'function' || !('table' in exported)) return []
    const { table: rows } = exported
    if (typeof rows !== 'object' || rows === null) return []
    return Object.entries(rows).flatMap(([name, row]): [string, Row][] => (isRow(row) ? [[name, row]] : []))
  })
}

export function errorsPage(booted: Booted): Page {
  const rows = new Map([...foundations, ...booted.modules.values()].flatMap(rowsIn))
  const sorted = [...rows].sort(([a], [b]) => compare(a, b))
  const text = page('Errors', booted.title, [
    'An expected failure has a code, typed data and a remedy. The message says what is; the remedy is for a person.',
    table(
      ['Code', 'When', 'Remedy'],
      sorted.map(([name, row]) => [code(name), row.when, row.remedy]),
    ),
  ])
  return { name: 'errors.md', text }
}
