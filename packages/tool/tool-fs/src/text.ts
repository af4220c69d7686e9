/** Owns how values of the file tools are told to a model. */
import { LINE_MARK } from '@sluice/fs'
import type { ContentPart } from '@sluice/session'
import { editPrompt, listPrompt, note, writePrompt } from './prompt.ts'
import type { ChangeValue, ListValue, ReadValue } from './values.ts'

export function readText(value: ReadValue): string | readonly ContentPart[] {
  if (value.kind === 'image') return [{ type: 'image', mediaType: value.mediaType, blob: value.blob }]
  if (value.kind === 'binary') return value.notes.map(note).join('\n')
  const width = String(value.from + value.lines.length - 1).length
  const lines = value.lines.map((line, i) => `${String(value.from + i).padStart(width)}${LINE_MARK}${line}`)
  return [...lines, ...value.notes.map(note)].join('\n')
}

export function writeText(value: ChangeValue): string {
  const { path, created, linesAdded, linesRemoved } = value
  const head = created ? writePrompt.created(path, linesAdded) : writePrompt.replaced(path, linesAdded, linesRemoved)
  return [head, ...value.notes.map(note)].join('\n')
}

export function editText(value: ChangeValue): string {
  const head = editPrompt.done(value.path, value.linesAdded, value.linesRemoved)
  return [head, ...value.notes.map(note), value.diff].join('\n')
}

export function listText(value: ListValue): string {
  if (value.entries.length === 0) return listPrompt.empty
  const lines = value.entries.map(({ name, kind, size }) => {
    if (kind === 'directory') return `${name}/`
    if (kind === 'symlink') return `${name}@`
    return size === undefined ? name : `${name}  ${size}`
  })
  return [...lines, ...(value.omitted > 0 ? [listPrompt.omitted(value.omitted)] : [])].join('\n')
}
