export type { Cut } from './cut.ts'
export { cut } from './cut.ts'
export { apply, Config, inject, name } from './plugin.ts'
