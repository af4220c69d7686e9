export type { Composed, ComposeOptions } from './compose.ts'
export { compose, declaredServices } from './compose.ts'
export type { DeclaredPlugin } from './doctor.ts'
export { diagnose, isReady } from './doctor.ts'
export { composeErrors } from './errors.ts'
export { moduleImporter, resolveModule } from './importer.ts'
export { mounted } from './mounted.ts'
export { parseComposition } from './parse.ts'
export { COMPOSITION_BYTES_MAX, readComposition } from './read.ts'
export { REPORT_LINES_MAX, reportOf } from './report.ts'
export type {
  Composition,
  CompositionEntry,
  Diagnosis,
  FailedPlugin,
  Importer,
  MissingService,
  MountedPlugin,
  PendingPlugin,
  PluginState,
} from './types.ts'
