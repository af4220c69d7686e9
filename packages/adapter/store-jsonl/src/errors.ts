/** Owns the expected failures of the JSONL store. */
import { defineErrors } from '@sluice/base'

export const storeErrors = defineErrors({
  STORE_UNREADABLE: {
    when: 'the disk refuses to show a session or the folder of sessions',
    message: (d: { path: string; code: string }) => `${d.path} cannot be read (${d.code})`,
    remedy: 'Check the owner and the permissions of the file and of the folders above it.',
  },
  STORE_UNWRITABLE: {
    when: 'the disk refuses what has to be written',
    message: (d: { path: string; code: string }) => `${d.path} cannot be written (${d.code})`,
    remedy: 'Free space or restore access, then try again: what is in memory is kept and written then.',
  },
  STORE_BACKLOG_FULL: {
    when: 'more is waiting for the disk than may be kept in memory',
    message: (d: { path: string; bytesMax: number }) => `${d.bytesMax} bytes are waiting to be written to ${d.path}`,
    remedy: 'Free space or restore access; nothing more is taken until the disk has caught up.',
  },
  STORE_FOREIGN_CHANGE: {
    when: 'a log was changed by somebody else while it was open for writing',
    message: (d: { path: string; detail: string }) => `${d.path} was changed from outside: ${d.detail}`,
    remedy: 'Close the session and open it again; keep other programs away from the folder of sessions.',
  },
})
