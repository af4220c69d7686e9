/** Owns the simulated network: a test says what an address answers; an unknown address cannot be reached. */
import type { Network } from '@sluice/base'

export type NetworkHandler = (request: Request) => Response | Promise<Response>

export interface SimNetwork extends Network {
  /** Says what addresses that start with (or match) `matcher` answer. Latest first. */
  on(matcher: string | RegExp, handler: NetworkHandler): () => void
  /** Every request that was made, answered or not. */
  readonly requests: readonly Request[]
}

export function simNetwork(onActivity: () => void): SimNetwork {
  const handlers: { matcher: string | RegExp; handler: NetworkHandler }[] = []
  const requests: Request[] = []
  return {
    requests,
    on(matcher, handler) {
      const entry = { matcher, handler }
      handlers.unshift(entry)
      return () => void handlers.splice(handlers.indexOf(entry), 1)
    },
    async fetch(input, init) {
      onActivity()
      const request = new Request(input, init)
      requests.push(request)
      request.signal.throwIfAborted()
      const { url } = request
      const entry = handlers.find(({ matcher }) =>
        typeof matcher === 'string' ? url.startsWith(matcher) : matcher.test(url),
      )
      if (!entry) throw new TypeError('fetch failed', { cause: new Error(`nothing is reachable at ${url}`) })
      const gone = new Promise<never>((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason as Error), { once: true })
      })
      return Promise.race([Promise.resolve(request).then(entry.handler), gone])
    },
  }
}
