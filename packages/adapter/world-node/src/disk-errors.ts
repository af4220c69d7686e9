/** Owns turning errors of Node into errors of the World port. */
import { DiskError } from '@sluice/base'

/** A `DiskError` for what a system call failed with; anything that is no system error is handed on as it is. */
export function diskErrorOf(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error
  const { code } = error as NodeJS.ErrnoException
  if (typeof code !== 'string') return error
  // Node checks for NUL before the system can refuse it.
  if (code === 'ERR_INVALID_ARG_VALUE') return new DiskError('EINVAL', error.message, path, { cause: error })
  return /^E[A-Z0-9]+$/.test(code) ? new DiskError(code, error.message, path, { cause: error }) : error
}

export async function withDiskErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw diskErrorOf(error, path)
  }
}
