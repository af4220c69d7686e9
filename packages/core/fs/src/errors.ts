/** Owns the expected failures of files. */
import { defineErrors } from '@sluice/base'
import { MATCHES_COUNTED_MAX } from './match.ts'

const lineList = (lines: readonly number[], count: number) =>
  `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}${count > lines.length ? ', …' : ''}`

export const fsErrors = defineErrors({
  FS_PATH_INVALID: {
    when: 'a path is empty, holds a NUL, is too long, or its links go round in a circle',
    message: (d: { path: string; problem: string }) => `the path ${JSON.stringify(d.path)} ${d.problem}`,
    remedy: 'Give one path, absolute or relative to the working folder.',
  },
  FS_NOT_FOUND: {
    when: 'no file or folder has that path',
    message: (d: { path: string }) => `there is nothing at ${d.path}`,
    remedy: 'List the folder to see what is there.',
  },
  FS_NOT_A_FILE: {
    when: 'the path leads to a directory, FIFO, socket or device',
    message: (d: { path: string; kind: string }) => `${d.path} is a ${d.kind}, not a file`,
    remedy: 'Give the path of a regular file; a directory can be listed.',
  },
  FS_NOT_A_DIRECTORY: {
    when: 'a part of the path that should be a directory is something else',
    message: (d: { path: string; kind: string }) => `${d.path} is a ${d.kind}, not a directory`,
    remedy: 'Give a path whose parents are directories.',
  },
  FS_REFUSED: {
    when: 'a mounted check or intent listener refuses the target, or the path was redirected while it was being opened',
    message: (d: { path: string; code: string; reason: string; remedy?: string }) => `${d.path}: ${d.reason}`,
    remedy: 'See the reason; a check is changed in the configuration of the plugin that mounted it.',
  },
  FS_ACCESS: {
    when: 'the operating system refuses access',
    message: (d: { path: string; action: string }) => `the system does not allow to ${d.action} ${d.path}`,
    remedy: 'Check owner and permissions.',
  },
  FS_READ_ONLY: {
    when: 'a file without write permission would be changed',
    message: (d: { path: string; mode: number }) =>
      `${d.path} is read-only (mode ${d.mode.toString(8).padStart(4, '0')})`,
    remedy: 'Make the file writable first, if that is wanted.',
  },
  FS_HARD_LINKED: {
    when: 'a file with several hard links would be replaced, which would separate them',
    message: (d: { path: string; links: number }) =>
      `${d.path} has ${d.links} hard links; replacing it would separate them`,
    remedy: 'Ask for the link to be broken, or change the file by other means.',
  },
  FS_NO_MATCH: {
    when: 'the text to be replaced does not occur',
    message: (d: { path: string; piece: number; hint?: string }) =>
      `the old text${d.piece >= 0 ? ` of piece ${d.piece + 1}` : ''} does not occur in ${d.path}${d.hint === undefined ? '' : `: ${d.hint}`}`,
    remedy: 'Read the file again and copy the text exactly.',
  },
  FS_AMBIGUOUS: {
    when: 'the text to be replaced occurs several times',
    message: (d: { path: string; piece: number; count: number; lines: readonly number[] }) =>
      `the old text${d.piece >= 0 ? ` of piece ${d.piece + 1}` : ''} occurs ${d.count === MATCHES_COUNTED_MAX ? 'at least ' : ''}${d.count} times in ${d.path} (${lineList(d.lines, d.count)})`,
    remedy: 'Give more of the surrounding text, or ask for every occurrence to be replaced.',
  },
  FS_EMPTY_OLD_TEXT: {
    when: 'the text to be replaced is empty and the file is not',
    message: (d: { path: string; piece: number }) =>
      `the old text${d.piece >= 0 ? ` of piece ${d.piece + 1}` : ''} is empty`,
    remedy: 'Give the text to replace; it may be empty only for an empty file.',
  },
  FS_NO_CHANGE: {
    when: 'an edit or write would leave the file as it is',
    message: (d: { path: string }) => `nothing would change in ${d.path}`,
    remedy: 'Give a new text that differs from the old one.',
  },
  FS_STALE: {
    when: 'the file is no longer what the session has seen, or what the change was made for',
    message: (d: { path: string; detail: string }) => `${d.path} has changed on disk: ${d.detail}`,
    remedy: 'Read the file again; before an undo, take back what changed it since, the newest first.',
  },
  FS_NOT_UTF8: {
    when: 'a file that is not UTF-8 text would be edited',
    message: (d: { path: string; encoding: string }) =>
      `${d.path} is not UTF-8 text (${d.encoding}); it cannot be edited as text`,
    remedy: 'Change it by a program that knows the encoding.',
  },
  FS_TEXT_INVALID: {
    when: 'a text to be written holds half a surrogate pair, which no file can hold',
    message: (d: { path: string }) => `the text for ${d.path} is not well-formed Unicode`,
    remedy: 'Send complete characters.',
  },
  FS_TOO_LARGE: {
    when: 'a file or text is larger than a change may be',
    message: (d: { path: string; size: number; max: number }) =>
      `${d.path}: ${d.size} bytes are more than the ${d.max} that can be changed`,
    remedy: 'Change it by a program, or split it.',
  },
  FS_NOT_DURABLE: {
    when: 'a file was changed, but the disk did not confirm that the change would survive a loss of power',
    message: (d: { path: string; detail: string }) =>
      `${d.path} was changed, but the disk did not confirm it: ${d.detail}`,
    remedy: 'Look at the file before going on; the disk may be failing.',
  },
  FS_NOTHING_TO_UNDO: {
    when: 'the call changed no file or was taken back already, or the bytes from before are gone',
    message: (d: { callId: string; detail: string }) => `nothing to undo for call ${d.callId}: ${d.detail}`,
    remedy: 'Name a call that changed a file in this session.',
  },
  FS_DISK: {
    when: 'the disk fails: full, gone, or refusing for another reason',
    message: (d: { path: string; action: string; code: string; detail: string }) =>
      `could not ${d.action} ${d.path}: ${d.code} (${d.detail})`,
    remedy: 'See the error of the disk; nothing was changed.',
  },
})
