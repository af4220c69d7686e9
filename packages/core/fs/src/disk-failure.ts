/** Owns how a failure of the disk is told: each POSIX name as a failure of files. */
import { isDiskError, isSluiceError } from '@sluice/base'
import { fsErrors } from './errors.ts'

/** The typed failure for what the disk threw; anything that is no failure of the disk is returned as it is. */
export function diskFailure(error: unknown, path: string, action: string): unknown {
  if (isSluiceError(error) || !isDiskError(error)) return error
  const options = { cause: error }
  switch (error.code) {
    case 'ENOENT':
      return fsErrors('FS_NOT_FOUND', { path }, options)
    case 'EISDIR':
      return fsErrors('FS_NOT_A_FILE', { path, kind: 'directory' }, options)
    case 'ENOTDIR':
      return fsErrors('FS_NOT_A_DIRECTORY', { path, kind: 'file' }, options)
    case 'EACCES':
    case 'EPERM':
      return fsErrors('FS_ACCESS', { path, action }, options)
    case 'ENAMETOOLONG':
      return fsErrors('FS_PATH_INVALID', { path, problem: 'is too long' }, options)
    default:
      return fsErrors('FS_DISK', { path, action, code: error.code, detail: error.message }, options)
  }
}
