export { hasConsent } from './consent.ts'
export { approvalEvents } from './emitted-events.ts'
export { apply, Config, inject, name, provide } from './plugin.ts'
export type * from './types.ts'
