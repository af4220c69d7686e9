export { bubblewrapErrors } from './errors.ts'
export { apply, Config, inject, name } from './plugin.ts'
