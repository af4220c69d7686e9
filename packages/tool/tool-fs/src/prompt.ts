/** Owns every string of the file tools that a model reads. */
import { LINE_MARK } from '@sluice/fs'

export const readPrompt = {
  description: [
    'Reads a file and shows its lines with their numbers.',
    'Without offset and limit it shows the file from the start, as much as fits; the result says how to go on.',
    `A line is shown as its number, ${LINE_MARK} and its text: number and ${LINE_MARK} are not part of the file.`,
    'Images are shown as images. Read a file before you edit it.',
  ].join(' '),
  path: 'File to read, absolute or relative to the working folder.',
  offset: 'First line to show, from 1.',
  limit: 'How many lines to show.',
}

export const writePrompt = {
  description: [
    'Writes a whole file: creates it, with missing folders, or replaces what it holds.',
    'An existing file must have been read as a whole before. To change a part of a file, use edit.',
  ].join(' '),
  path: 'File to write, absolute or relative to the working folder.',
  content: 'The whole content of the file.',
  breakHardLink: 'Replace a file with several hard links, which separates it from the others.',
  created: (path: string, lines: number) => `Created ${path} with ${counted(lines)}.`,
  replaced: (path: string, added: number, removed: number) =>
    `Wrote ${path}: ${counted(added)} added, ${removed} removed.`,
}

export const editPrompt = {
  description: [
    'Replaces text in a file that you have read. Every edit of the call applies, one after another, or none does.',
    'oldText must occur exactly once, unless replaceAll is set; copy it from the file exactly, without line numbers.',
    'Line ends, byte-order mark and everything outside the replaced text stay as they are.',
  ].join(' '),
  path: 'File to edit, absolute or relative to the working folder.',
  edits: 'The replacements, in order.',
  oldText: 'Text to replace, as it stands in the file.',
  newText: 'Text to put in its place.',
  replaceAll: 'Replace every occurrence.',
  breakHardLink: writePrompt.breakHardLink,
  done: (path: string, added: number, removed: number) =>
    `Edited ${path}: ${counted(added)} added, ${removed} removed.`,
}

export const listPrompt = {
  description: 'Lists a folder: one entry a line, folders end in /, links in @, files show their size in bytes.',
  path: 'Folder to list, absolute or relative to the working folder. Default: the working folder.',
  empty: 'The folder is empty.',
  omitted: (count: number) => `… and ${count} more entries.`,
}

export const note = (text: string) => `[${text}]`

/** What a model can do about a failure, by code. */
export const remedies: { readonly [code: string]: string } = {
  FS_NOT_FOUND: 'Look at what is there with list or glob.',
  FS_NOT_A_FILE: 'Use list for a folder.',
  FS_NOT_A_DIRECTORY: 'Give the path of a folder.',
  FS_NO_MATCH: 'Read that part of the file again and copy the text exactly.',
  FS_AMBIGUOUS: 'Give more of the surrounding lines in oldText, or set replaceAll.',
  FS_EMPTY_OLD_TEXT: 'Give the text to replace, or use write for a new file.',
  FS_NO_CHANGE: 'Nothing was written. oldText and newText must differ.',
  FS_STALE: 'Nothing was written. Read the file again, then decide.',
  FS_NOT_UTF8: 'Nothing was written. Use a program that knows the encoding.',
  FS_HARD_LINKED: 'Nothing was written. Set breakHardLink if the other names may keep the old content.',
  FS_READ_ONLY: 'Nothing was written. Make the file writable first, if that is wanted.',
  FS_TOO_LARGE: 'Nothing was written. Use a program for files of this size.',
  FS_NOT_DURABLE: 'Read the file before you go on.',
}

function counted(lines: number): string {
  return lines === 1 ? '1 line' : `${lines} lines`
}
