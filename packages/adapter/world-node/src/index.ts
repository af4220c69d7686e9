export { apply, name, provide } from './plugin.ts'
export type { NodeWorld } from './world.ts'
export { nodeWorld } from './world.ts'
