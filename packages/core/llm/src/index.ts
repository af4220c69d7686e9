export type * from './types.ts'
export { llmErrors } from './errors.ts'
