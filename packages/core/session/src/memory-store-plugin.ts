/** Owns the plugin that provides a memory store. */
import type { Context } from 'cordis'
import { memoryStore } from './memory-store.ts'

export const memoryStorePlugin = {
  name: 'session-store-memory',
  provide: ['sessionStore'],
  apply(ctx: Context): void {
    ctx.provide('sessionStore', memoryStore())
  },
}
