/** Owns the network of one confined process: a proxy outside that knows hosts, and a relay to it inside. */
import { once } from 'node:events'
import type { Mount } from './arguments.ts'
import type { Before } from './keeper.ts'

/** Inside: the port at which the relay listens, and the socket that leads to the proxy. */
const PORT = 8118
const SOCKET = '/dev/sluice-network'

/** Starts the relay, and goes on as soon as it listens. */
const RELAY = `relay=$1; shift
"$relay" TCP4-LISTEN:${PORT},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:${SOCKET} >/dev/null 2>&1 3>&- &
tries=0
until "$relay" -u /dev/null TCP4:127.0.0.1:${PORT} 2>/dev/null || [ $tries -ge 200 ]; do tries=$((tries+1)); sleep 0.01; done
`

export interface Passage {
  readonly mount: Mount
  readonly env: Readonly<Record<string, string>>
  /** What runs inside before the program, and takes the first argument. */
  readonly before: Before
  close(): void
}

/** Opens a way to these hosts; `path` is where its socket is made, and `socat` the program of the relay. */
export async function openPassage(hosts: readonly string[], path: string, socat: string): Promise<Passage> {
  // Only parts of the library that are no process-wide state; loaded when a process may reach hosts.
  const [{ createHttpProxyServer }, { matchesDomainPatternWithPort }, { createResolvedAddressGuard }, parents] =
    await Promise.all([
      import('@anthropic-ai/sandbox-runtime/dist/sandbox/http-proxy.js'),
      import('@anthropic-ai/sandbox-runtime/dist/sandbox/domain-pattern.js'),
      import('@anthropic-ai/sandbox-runtime/dist/sandbox/resolved-address-guard.js'),
      import('@anthropic-ai/sandbox-runtime/dist/sandbox/parent-proxy.js'),
    ])
  // Where the host itself reaches the network by a proxy, so does this one; loopback is reached directly.
  const parentProxy = parents.resolveParentProxy()
  const guard = createResolvedAddressGuard({ allowedDomains: hosts })
  const server = createHttpProxyServer({
    filter: (port, host) => hosts.some((pattern) => matchesDomainPatternWithPort(host, port, pattern)),
    lookupFor: (port) => guard.lookupFor(port),
    ...(parentProxy && { parentProxy }),
  })
  server.listen(path).unref()
  await once(server, 'listening')
  const proxy = `http://127.0.0.1:${PORT}`
  const local = 'localhost,127.0.0.1,::1'
  return {
    mount: { path: SOCKET, as: 'writable', from: path },
    env: {
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      http_proxy: proxy,
      https_proxy: proxy,
      NO_PROXY: local,
      no_proxy: local,
      NODE_USE_ENV_PROXY: '1',
    },
    before: { script: RELAY, argument: socat },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
