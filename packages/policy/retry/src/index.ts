export { apply, Config, inject, name, pauseBefore, worthAnotherTry } from './plugin.ts'
