export { sandboxErrors } from './errors.ts'
export { apply, Config, inject, name, provide } from './plugin.ts'
export type * from './types.ts'
export { wantsOf } from './wants.ts'
