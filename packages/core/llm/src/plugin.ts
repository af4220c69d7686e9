/** Owns the wiring of `ctx.llm`. */
import type { Context } from 'cordis'
import { LlmService } from './service.ts'

export const name = 'llm'
export const provide = ['llm']

export function apply(ctx: Context): void {
  new LlmService(ctx)
}
