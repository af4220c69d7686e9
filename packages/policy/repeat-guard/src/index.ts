export { apply, Config, inject, name } from './plugin.ts'
export type { Recent } from './recent.ts'
export { CYCLE_MAX, recentCalls, REMEMBERED_MAX, repetitions } from './recent.ts'
