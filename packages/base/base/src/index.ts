export { AssertionError, assert, assertNever } from './assert.ts'
export { sleep } from './clock.ts'
export { editDistance } from './edit-distance.ts'
export type { DataOf, ErrorFactory, ErrorRow, ErrorTable } from './errors.ts'
export { defineErrors, isSluiceError, messageOf, SluiceError } from './errors.ts'
export { fit } from './fit.ts'
export { mintId, mintSessionId } from './ids.ts'
export type { Json, JsonObject, LosslessCopy } from './json.ts'
export {
  canonicalJson,
  isObject,
  JSON_DEPTH_MAX,
  JSON_NODES_MAX,
  jsonErrors,
  lossless,
  losslessCopy,
  parseJson,
} from './json.ts'
export { Onto } from './onto.ts'
export { adopt, disown, isPromise } from './promise.ts'
export { BoundedQueue, queueErrors } from './queue.ts'
export type { SchemaCheck, SchemaProblem } from './schema.ts'
export { PROBLEMS_MAX, schemaCheck } from './schema.ts'
export type {
  Child,
  Clock,
  Disk,
  DiskFile,
  FileKind,
  FileStat,
  HostInfo,
  Network,
  OpenOptions,
  ProcessExit,
  Processes,
  RandomSource,
  Crowd,
  SpawnOptions,
  World,
} from './world.ts'
export { textOf } from './text.ts'
export { DiskError, isDiskError } from './world.ts'
