import { mkdtemp, rm } from 'node:fs/promises'
import dns from 'node:dns'
import { createServer, request } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openPassage } from '../src/network.ts'

let folder = ''
const ends: (() => unknown)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-network-'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const end of ends.splice(0)) await end()
  await rm(folder, { recursive: true, force: true })
})

/** A server on loopback that tells what it was asked for. */
async function peer() {
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.end('hello')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => server.close())
  return { port: (server.address() as AddressInfo).port, asked }
}

async function passage(hosts: readonly string[]) {
  const path = join(folder, `socket-${ends.length}`)
  const open = await openPassage(hosts, path, '/usr/bin/socat')
  ends.push(() => open.close())
  /** Asks the proxy for a page and tells the status. */
  return (url: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { host } = new URL(url)
      const asking = request({ socketPath: path, path: url, headers: { host, connection: 'close' } }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode))
      })
      asking.on('error', reject).end()
    })
}

test('an address is reached when it is allowed itself, at its port', async () => {
  const { port, asked } = await peer()
  const get = await passage([`127.0.0.1:${port}`])
  expect(await get(`http://127.0.0.1:${port}/yes`)).toBe(200)
  expect(await get(`http://127.0.0.1:${port + 1}/no`)).toBe(403)
  expect(asked).toEqual(['/yes'])
})

test('an allowed name that leads to the host itself is not followed', async () => {
  const { port, asked } = await peer()
  vi.spyOn(dns, 'lookup').mockImplementation(((_name: string, _options: object, told: (...all: unknown[]) => void) =>
    told(null, [{ address: '127.0.0.1', family: 4 }])) as never)
  syncBuiltinESMExports()
  ends.push(() => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  })
  const get = await passage(['rebound.example.org'])
  expect(await get(`http://rebound.example.org:${port}/`)).toBe(403)
  const direct = await passage(['rebound.example.org', `127.0.0.1:${port}`])
  expect(await direct(`http://rebound.example.org:${port}/yes`)).toBe(200)
  expect(asked).toEqual(['/yes'])
})

test('where the host reaches the network by a proxy, hosts are reached by it, and only those that a name or a pattern allows', async () => {
  const { port, asked } = await peer()
  vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${port}`)
  vi.stubEnv('http_proxy', `http://127.0.0.1:${port}`)
  vi.stubEnv('NO_PROXY', '')
  vi.stubEnv('no_proxy', '')
  const get = await passage(['example.org', '*.example.net'])
  for (const host of ['example.org', 'a.example.net']) expect(await get(`http://${host}/yes`)).toBe(200)
  for (const host of ['a.example.org', 'example.com', 'example.net', 'badexample.net', 'example.net.evil.org'])
    expect([host, await get(`http://${host}/no`)]).toEqual([host, 403])
  expect(asked).toEqual(['http://example.org/yes', 'http://a.example.net/yes'])
})
