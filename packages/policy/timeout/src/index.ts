export { apply, Config, deadlineOf, inject, name } from './plugin.ts'
