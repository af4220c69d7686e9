export { llmAiSdkErrors } from './errors.ts'
export { apply, Config, inject, name } from './plugin.ts'
export type { StrictSchema } from './tool-schema.ts'
export { strictSchema } from './tool-schema.ts'
