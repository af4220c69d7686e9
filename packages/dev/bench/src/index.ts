export type { Candidate, Case, Measured } from './measure.ts'
export { measure } from './measure.ts'
