export { readErrors } from './errors.ts'
export { apply, Config, inject, name } from './plugin.ts'
export { editVerdict, writeVerdict } from './seen.ts'
