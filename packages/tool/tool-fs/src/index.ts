export { EDITS_MAX, LIMIT_MAX } from './arguments.ts'
export { apply, Config, inject, name } from './plugin.ts'
export { editTool, listTool, readTool, writeTool } from './tools.ts'
export { ChangeValue, ListValue, ReadValue } from './values.ts'
