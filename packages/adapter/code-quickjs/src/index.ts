export { apply, Config, name, provide } from './plugin.ts'
