export type * from './types.ts'
export { agentErrors } from './errors.ts'
export { INSTRUCTIONS_BYTES_MAX, INSTRUCTIONS_DEPTH_MAX, INSTRUCTIONS_FILE } from './instructions.ts'
export { apply, Config, inject, name, provide } from './plugin.ts'
