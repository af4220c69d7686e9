/** Owns expected failures: one table per package, each failure with a code, typed data, a message and a remedy. */

import { AssertionError } from './assert.ts'

/** One row of an error table: when it happens, what the message says, what to do about it. */
export interface ErrorRow<Data> {
  readonly when: string
  readonly message: (data: Data) => string
  readonly remedy: string
}

/** Rows may disagree on their data, so the constraint leaves it open. */
// oxlint-disable-next-line typescript/no-explicit-any
export type ErrorTable = Record<string, ErrorRow<any>>

/** An expected failure. `code` is `AREA_CONDITION`; `data` is typed by the row of that code; `remedy` is for a person. */
export class SluiceError<Code extends string = string, Data = unknown> extends Error {
  override readonly name = 'SluiceError'
  readonly code: Code
  readonly data: Data
  readonly remedy: string

  constructor(code: Code, data: Data, message: string, remedy: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.data = data
    this.remedy = remedy
  }
}

export type DataOf<Row> = Row extends ErrorRow<infer Data> ? Data : never

/** Makes errors of one table; `errors.table` is what the reference page prints. */
export interface ErrorFactory<Table extends ErrorTable> {
  <Code extends keyof Table & string>(
    code: Code,
    data: DataOf<Table[Code]>,
    options?: ErrorOptions,
  ): SluiceError<Code, DataOf<Table[Code]>>
  readonly table: Table
}

export function defineErrors<const Table extends ErrorTable>(table: Table): ErrorFactory<Table> {
  const make = <Code extends keyof Table & string>(code: Code, data: DataOf<Table[Code]>, options?: ErrorOptions) => {
    if (!Object.hasOwn(table, code)) throw new AssertionError(`no error row ${code}`)
    const row = table[code] as Table[Code]
    return new SluiceError(code, data, row.message(data), row.remedy, options)
  }
  return Object.assign(make, { table })
}

/** True for any SluiceError, or only for one with `code`. Works across copies of this package. */
export function isSluiceError<Code extends string>(error: unknown, code?: Code): error is SluiceError<Code> {
  if (!(error instanceof Error) || error.name !== 'SluiceError' || !('code' in error)) return false
  return code === undefined || error.code === code
}

/** A message for any thrown value, never empty and never throwing. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return String(thrown.message || thrown.name) || 'an error without a message'
    return String(thrown) || 'an empty value was thrown'
  } catch {
    return 'a value that cannot be shown was thrown'
  }
}
