export { workspaceErrors } from './errors.ts'
export { AUTHORITY, SECRETS } from './patterns.ts'
export { apply, Config, inject, name } from './plugin.ts'
