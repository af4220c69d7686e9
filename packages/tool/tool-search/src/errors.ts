/** Owns the failures of searches. */
import { defineErrors } from '@sluice/base'
import { badPattern, failed, nothingAt, tooWide } from './prompt.ts'

export const searchErrors = defineErrors({
  SEARCH_PATH_MISSING: {
    when: 'the place to search does not exist',
    message: (d: { path: string }) => nothingAt(d.path),
    remedy: 'Give a file or folder that exists.',
  },
  SEARCH_PATTERN_INVALID: {
    when: 'the pattern is no regular expression',
    message: (d: { problem: string }) => badPattern(d.problem),
    remedy: 'Mend the pattern, or search for it as plain text.',
  },
  SEARCH_PATTERN_TOO_WIDE: {
    when: 'the braces of a pattern stand for too many patterns',
    message: (d: { max: number }) => tooWide(d.max),
    remedy: 'Give a pattern with fewer alternatives.',
  },
  SEARCH_FAILED: {
    when: 'ripgrep cannot be started or fails',
    message: (d: { problem: string }) => failed(d.problem),
    remedy: 'Reinstall the package, so that the ripgrep for this platform is there.',
  },
})
