/** Owns why a change is refused for what the session has seen. */
import { defineErrors } from '@sluice/base'

export const readErrors = defineErrors({
  READ_BEFORE_EDIT_UNREAD: {
    when: 'a file that the session has not read would be changed',
    message: () => 'this file has not been read in this session',
    remedy: 'Nothing was written. Read the file first, then change it.',
  },
  READ_BEFORE_EDIT_PARTIAL: {
    when: 'a file of which only a part was shown would be replaced as a whole',
    message: () => 'only a part of this file has been shown, and a write replaces all of it',
    remedy: 'Nothing was written. Read the whole file first, or edit the part that you have seen.',
  },
  READ_BEFORE_EDIT_STALE: {
    when: 'a file that changed since it was read would be replaced as a whole',
    message: () => 'this file has changed on disk since it was read',
    remedy: 'Nothing was written. Read the file again, then decide.',
  },
})
