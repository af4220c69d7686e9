/** Owns the definitions of the file tools; all that touches files is `ctx.fs`. */
import { posix } from 'node:path'
import { isSluiceError, SluiceError } from '@sluice/base'
import type { ChangeResult, Fs, FsContext } from '@sluice/fs'
import type { Session } from '@sluice/session'
import type { Run, ToolDefinition } from '@sluice/tools'
import { EditArgs, ListArgs, ReadArgs, WriteArgs } from './arguments.ts'
import { changeResultCard, editCard, listCard, listResultCard, readCard, readResultCard, writeCard } from './cards.ts'
import { editPrompt, listPrompt, readPrompt, remedies, writePrompt } from './prompt.ts'
import { editText, listText, readText, writeText } from './text.ts'
import { ChangeValue, ListValue, ReadValue } from './values.ts'

export function readTool(fs: Fs): ToolDefinition<ReadArgs> {
  return {
    name: 'read',
    description: readPrompt.description,
    parameters: ReadArgs,
    output: ReadValue,
    annotations: { readOnly: true, idempotent: true },
    aliases: ['Read'],
    overlap: ({ path }, session) => ({ reads: [keyOf(path, session)] }),
    specifier: ({ path }) => path,
    execute: ({ path, ...options }, run) =>
      withRemedy(async (): Promise<ReadValue> => {
        const { kind, mediaType, lines, range, linesTotal, encoding, cuts, bytes } = await fs.read(
          path,
          options,
          contextOf('read', run),
        )
        if (kind === 'image' && bytes) {
          const { digest, size } = await run.session.putBlob(bytes, { mediaType, name: posix.basename(path) })
          return { kind, path, mediaType, blob: { digest, size } }
        }
        const notes = [...cuts]
        if (kind !== 'text') return { kind: 'binary', path, mediaType, notes }
        const total = linesTotal === undefined ? {} : { total: linesTotal }
        return { kind, path, from: range.from, lines: [...lines], ...total, encoding, notes }
      }),
    render: (value) => readText(value as ReadValue),
    presentCall: readCard,
    presentResult: readResultCard,
  }
}

export function writeTool(fs: Fs): ToolDefinition<WriteArgs> {
  return {
    name: 'write',
    description: writePrompt.description,
    parameters: WriteArgs,
    output: ChangeValue,
    annotations: { destructive: true },
    aliases: ['Write'],
    overlap: ({ path }, session) => ({ writes: [keyOf(path, session)] }),
    specifier: ({ path }) => path,
    execute: ({ path, content, breakHardLink = false }, run) =>
      withRemedy(async () =>
        changeValue(path, await fs.write(path, content, { ...contextOf('write', run), breakHardLink })),
      ),
    render: (value) => writeText(value as ChangeValue),
    presentCall: writeCard,
    presentResult: (args, result) => changeResultCard('Write', args.path, writeCard(args), result),
  }
}

export function editTool(fs: Fs): ToolDefinition<EditArgs> {
  return {
    name: 'edit',
    description: editPrompt.description,
    parameters: EditArgs,
    output: ChangeValue,
    annotations: {},
    aliases: ['Edit', 'MultiEdit'],
    overlap: ({ path }, session) => ({ writes: [keyOf(path, session)] }),
    specifier: ({ path }) => path,
    execute: ({ path, edits, breakHardLink = false }, run) =>
      withRemedy(async () =>
        changeValue(path, await fs.edit(path, edits, { ...contextOf('edit', run), breakHardLink })),
      ),
    render: (value) => editText(value as ChangeValue),
    presentCall: editCard,
    presentResult: (args, result) => changeResultCard('Edit', args.path, editCard(args), result),
  }
}

export function listTool(fs: Fs): ToolDefinition<ListArgs> {
  return {
    name: 'list',
    description: listPrompt.description,
    parameters: ListArgs,
    output: ListValue,
    annotations: { readOnly: true, idempotent: true },
    aliases: ['LS'],
    overlap: 'parallel',
    specifier: ({ path = '.' }) => path,
    execute: ({ path = '.' }, run) =>
      withRemedy(async (): Promise<ListValue> => {
        const { entries, omitted } = await fs.list(path, contextOf('list', run))
        return { path, entries: entries.map((entry) => ({ ...entry })), omitted }
      }),
    render: (value) => listText(value as ListValue),
    presentCall: listCard,
    presentResult: listResultCard,
  }
}

/** Links are not followed here: calls on two names of one file may overlap, and `ctx.fs` then takes them in turn. */
function keyOf(path: string, session: Session): string {
  return posix.resolve(session.cwd, path)
}

function contextOf(tool: string, run: Run): FsContext {
  return { session: run.session, call: { id: run.callId, tool }, signal: run.signal }
}

function changeValue(path: string, { before, diff, notes, linesAdded, linesRemoved }: ChangeResult): ChangeValue {
  return { path, created: before === undefined, linesAdded, linesRemoved, diff, notes: [...notes] }
}

/** The message of a failure goes to the model, so what it can do about it is put there. */
async function withRemedy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isSluiceError(error)) throw error
    const own = (error.data as { remedy?: unknown }).remedy
    const remedy = typeof own === 'string' ? own : remedies[error.code]
    if (remedy === undefined) throw error
    throw new SluiceError(error.code, error.data, `${error.message}. ${remedy}`, remedy, { cause: error })
  }
}
