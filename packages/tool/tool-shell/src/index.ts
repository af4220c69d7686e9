export { shellErrors } from './errors.ts'
export { apply, Config, inject, name } from './plugin.ts'
export { COMMAND_CHARS_MAX } from './arguments.ts'
export type * from './types.ts'
