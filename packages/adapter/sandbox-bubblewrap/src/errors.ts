/** Owns the failures of confined starts. */
import { defineErrors } from '@sluice/base'

export const bubblewrapErrors = defineErrors({
  BUBBLEWRAP_GONE: {
    when: 'bubblewrap, which was there when the sandbox was mounted, is not there any more',
    message: (d: { folders: readonly string[] }) => `bwrap is not in ${d.folders.join(', ')} any more`,
    remedy: 'Install the package bubblewrap again.',
  },
  BUBBLEWRAP_NO_RELAY: {
    when: 'a process may reach hosts, and socat, which relays its connections, is not installed',
    message: (d: { folders: readonly string[] }) =>
      `the network by host needs socat, which is in none of ${d.folders.join(', ')}`,
    remedy: 'Install the package socat.',
  },
})
