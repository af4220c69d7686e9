/** Owns what a probe is: a program, and what it must come to. */
import type { Json } from '@sluice/base'
import type { CodeFailureKind, CodeLimits } from '../types.ts'

export interface Probe {
  readonly title: string
  readonly program: string
  /** The value that the program ends with, or the kind of its failure. */
  readonly value?: Json
  readonly fails?: CodeFailureKind
  /** Part of the failure's message. */
  readonly saying?: string
  readonly limits?: Partial<CodeLimits>
}

/** A probe that is to run out of time does so soon. */
export const soon = { activeMs: 100 }
