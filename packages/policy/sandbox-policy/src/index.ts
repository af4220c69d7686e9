export { apply, inject, name } from './plugin.ts'
