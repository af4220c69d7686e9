/** Owns how a call says that it wants more than the sandbox gives: by two arguments. */
import type { JsonObject } from '@sluice/base'
import type { Wants } from './types.ts'

/** Read by the policy before the call and by the tool when it starts the process, so that both see the same. */
export function wantsOf({ hosts, unconfined }: JsonObject): Wants {
  return {
    ...(Array.isArray(hosts) && { hosts: hosts.filter((host) => typeof host === 'string') }),
    ...(unconfined === true && { unconfined }),
  }
}
