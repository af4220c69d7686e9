import type { ServerResponse } from 'node:http'
import { simWorld } from '@sluice/testkit'
import { afterEach, expect, test } from 'vitest'
import { RESPONSE_BYTES_MAX } from '../src/event-stream.ts'
import { calls, delta, type Endpoint, endpoint, event, type Handler, head, sends } from './endpoint.ts'
import { collect, mounted, textOf, tool } from './mounted.ts'

let server: Endpoint | undefined
afterEach(() => server?.close())

const says = (text: string) => [delta({ content: text }), delta({}, 'stop')]
const ok = sends(...says('done'))

/** Refuses with a status. */
const refuses =
  (status: number, headers: Record<string, string> = {}, body = '{"error":{"message":"not now"}}'): Handler =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body)
  }

/** Starts an answer and leaves it open. */
const starts =
  (...chunks: unknown[]): Handler =>
  (response) => {
    head(response)
    response.write(chunks.map(event).join('') || ': wait\n\n')
  }

/** An adapter whose clock the test moves: far slower than the network, unless the limits are what is tested. */
async function still(handlers: Handler[], limits = { idleTimeoutMs: 10 ** 9, totalTimeoutMs: 10 ** 9 }) {
  server = await endpoint(...handlers)
  const { clock } = simWorld()
  const { ctx, stream } = await mounted({ baseURL: server.baseURL, ...limits }, { clock })
  return { ctx, server, clock, stream }
}

/** Moves the clock until the promise settles: the network is real, so nobody knows which turn brings the next timer. */
async function settledWith<T>(
  clock: { advance(ms: number): Promise<void> },
  promise: Promise<T>,
  step = 250,
): Promise<T> {
  let open = true
  const done = promise.finally(() => (open = false))
  done.catch(() => undefined)
  while (open) await clock.advance(step)
  return done
}

// BUG-086
test('an endpoint that never answers is given up after the idle limit, and hung up on', async () => {
  const { server, clock, stream } = await still([() => undefined], { idleTimeoutMs: 1_000, totalTimeoutMs: 10 ** 9 })
  const reading = collect(stream())
  const { hungUp } = await server.request(1)
  await expect(settledWith(clock, reading)).rejects.toMatchObject({
    code: 'LLM_TIMED_OUT',
    data: { limit: 'idle limit' },
  })
  await hungUp
  expect(server.seen).toHaveLength(1)
})

// BUG-086
test('an answer that goes silent is given up after the idle limit, keeping what came', async () => {
  const { server, clock, stream } = await still([starts(delta({ content: 'half' }))], {
    idleTimeoutMs: 1_000,
    totalTimeoutMs: 10 ** 9,
  })
  const reading = stream()[Symbol.asyncIterator]()
  expect(await reading.next()).toMatchObject({ value: { type: 'text', text: 'half' } })
  const { hungUp } = await server.request(1)
  await expect(settledWith(clock, reading.next())).rejects.toMatchObject({ code: 'LLM_TIMED_OUT' })
  await hungUp
})

// BUG-086
test('keep-alive comments count as life, and the total limit still holds', async () => {
  let beat = () => {}
  const { server, clock, stream } = await still(
    [
      (response) => {
        head(response)
        beat = () => void response.write(': still here\n\n')
        beat()
      },
    ],
    { idleTimeoutMs: 60_000, totalTimeoutMs: 100_000 },
  )
  const reading = collect(stream())
  await server.request(1)
  let open = true
  const done = reading.finally(() => (open = false))
  done.catch(() => undefined)
  while (open) {
    beat()
    await clock.advance(200)
  }
  await expect(done).rejects.toMatchObject({ code: 'LLM_TIMED_OUT', data: { limit: 'total limit', ms: 100_000 } })
})

// BUG-086
test('Retry-After in seconds is waited for, and the answer comes once', async () => {
  const busy = refuses(429, { 'retry-after': '7' })
  const { ctx, server, clock, stream } = await still([busy, busy, ok])
  const before = clock.now()
  const told: unknown[] = []
  ctx.logger.exporter({ export: ({ args }) => void told.push(args[1]) })
  const parts = await settledWith(clock, collect(stream()))
  expect(textOf(parts)).toBe('done')
  expect(server.seen).toHaveLength(3)
  expect(clock.now() - before).toBeGreaterThanOrEqual(14_000)
  expect(server.seen[1]?.text).toBe(server.seen[0]?.text)
  expect(told).toEqual(Array(2).fill(expect.stringMatching(/answered 429: not now; another attempt follows in 7 s$/)))
})

// BUG-086
test('Retry-After as a date is waited for', async () => {
  const at = new Date(Date.UTC(2026, 0, 1, 0, 0, 20)).toUTCString()
  const { clock, stream } = await still([refuses(503, { 'retry-after': at }), ok])
  const before = clock.now()
  expect(textOf(await settledWith(clock, collect(stream())))).toBe('done')
  expect(clock.now() - before).toBeGreaterThanOrEqual(20_000)
})

// BUG-086
test('a Retry-After beyond the cap is not sat out', async () => {
  const { server, clock, stream } = await still([refuses(429, { 'retry-after': '86400' }), ok])
  const before = clock.now()
  const failure = await collect(stream()).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'LLM_REFUSED', data: { status: 429, body: 'not now' } })
  expect(clock.now()).toBe(before)
  expect(server.seen).toHaveLength(1)
})

// BUG-086
test.each([
  ['a wrong key', refuses(401), 1],
  ['a wrong request', refuses(400), 1],
  ['a used-up quota', refuses(429, {}, '{"error":{"message":"not now","code":"insufficient_quota"}}'), 1],
  ['a busy server', refuses(503), 4],
])('%s is tried as often as it makes sense', async (_, handler, attempts) => {
  const { server, clock, stream } = await still([handler])
  await expect(settledWith(clock, collect(stream()))).rejects.toMatchObject({ code: 'LLM_REFUSED' })
  expect(server.seen).toHaveLength(attempts)
})

// BUG-086
test('a refusal whose body never ends is read under a deadline', async () => {
  const { clock, stream } = await still([
    (response) => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.write('{"error":')
    },
  ])
  await expect(settledWith(clock, collect(stream()))).rejects.toMatchObject({
    code: 'LLM_REFUSED',
    data: { status: 400 },
  })
})

/** Writes the same for ever, as fast as it is read. */
function floods(response: ServerResponse, line: string): void {
  const block = line.repeat(1 + Math.floor(1_000_000 / line.length))
  const next = () => response.writable && response.write(block, next)
  next()
}

test('a refusal without end is cut by its size', async () => {
  const { stream } = await still([(response) => floods(response.writeHead(400), 'no ')])
  await expect(collect(stream())).rejects.toMatchObject({ code: 'LLM_REFUSED', data: { status: 400 } })
  await (await server?.request(1))?.hungUp
})

test('an answer without end is cut by its size', async () => {
  server = await endpoint((response) => floods(head(response), ': still here\n\n'))
  const { stream } = await mounted({ baseURL: server.baseURL, retriesMax: 0 })
  await expect(collect(stream())).rejects.toMatchObject({
    code: 'LLM_BROKEN',
    data: { problem: `more than ${RESPONSE_BYTES_MAX} bytes` },
  })
})

// BUG-086
test('a connection that breaks before the first part is tried again, and gives one answer', async () => {
  const { server, clock, stream } = await still([
    (response) => {
      head(response)
      // Half a call, not told yet: the tool is not known.
      response.write(event(calls({ index: 0, id: 'A', function: { name: 'wri', arguments: '{"a' } })))
      setImmediate(() => response.destroy())
    },
    ok,
  ])
  expect(await settledWith(clock, collect(stream({ tools: [tool('write')] })))).toEqual([
    { type: 'text', text: 'done' },
    { type: 'finish', reason: 'stop' },
  ])
  expect(server.seen).toHaveLength(2)
})

// BUG-086
test('a connection that breaks after the first part is not tried again', async () => {
  let cut = () => {}
  const { server, clock, stream } = await still([
    (response) => {
      head(response)
      response.write(event(delta({ content: 'half' })))
      cut = () => response.destroy()
    },
    ok,
  ])
  const reading = stream()[Symbol.asyncIterator]()
  expect(await reading.next()).toMatchObject({ value: { type: 'text', text: 'half' } })
  cut()
  await expect(settledWith(clock, reading.next())).rejects.toMatchObject({ code: 'LLM_BROKEN' })
  expect(server.seen).toHaveLength(1)
})

// BUG-086
test('limits beyond what a timer can hold do not fire at once', async () => {
  server = await endpoint(ok)
  const limits = { idleTimeoutMs: 2 ** 31, totalTimeoutMs: 2 ** 31 }
  const { stream } = await mounted({ baseURL: server.baseURL, ...limits })
  expect(textOf(await collect(stream()))).toBe('done')
})

// BUG-086
test('an abort closes the connection, while waiting for the answer and in the middle of it', async () => {
  for (const handler of [() => undefined, starts(delta({ content: 'a' }))]) {
    const { server, stream } = await still([handler])
    const controller = new AbortController()
    const reading = collect(stream({ signal: controller.signal }))
    const { hungUp } = await server.request(1)
    controller.abort()
    expect((await reading).at(-1)).toEqual({ type: 'finish', reason: 'aborted' })
    await hungUp
    await server.close()
  }
  server = undefined
})

test('an abort during the wait before another attempt ends the wait', async () => {
  const { server, stream } = await still([refuses(429, { 'retry-after': '50' })])
  const controller = new AbortController()
  const reading = collect(stream({ signal: controller.signal }))
  await server.request(1)
  controller.abort()
  expect(await reading).toEqual([{ type: 'finish', reason: 'aborted' }])
})

test('an endpoint that nobody serves is unreachable', async () => {
  const closed = await endpoint(ok)
  await closed.close()
  const { stream } = await mounted({ baseURL: closed.baseURL, retriesMax: 0 })
  await expect(collect(stream())).rejects.toMatchObject({
    code: 'LLM_UNREACHABLE',
    data: { url: closed.baseURL, problem: expect.stringContaining('ECONNREFUSED') as string },
  })
})

test.each<[string, Handler, string]>([
  ['a web page', (r) => void r.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello'), '<html>hello'],
  ['a plain value', (r) => void r.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'), '{"a":1}'],
  ['an event that is no JSON', sends('{oops'), 'an event is not JSON: {oops'],
  ['an error in the stream', sends({ error: { message: 'overloaded' } }), 'the endpoint reported: overloaded'],
])('an endpoint that sends %s has broken off, and the message quotes it', async (_, handler, quote) => {
  server = await endpoint(handler)
  const { stream } = await mounted({ baseURL: server.baseURL, retriesMax: 0 })
  await expect(collect(stream())).rejects.toMatchObject({
    code: 'LLM_BROKEN',
    message: expect.stringContaining(quote) as string,
  })
})

test('an answer that is complete is not spoilt by a connection that stays open or breaks afterwards', async () => {
  const { server, clock, stream } = await still([
    starts(...says('all')),
    (response) => {
      head(response)
      response.write(says('all').map(event).join(''), () => response.destroy())
    },
  ])
  for (const number of [1, 2]) {
    expect(await settledWith(clock, collect(stream()))).toEqual([
      { type: 'text', text: 'all' },
      { type: 'finish', reason: 'stop' },
    ])
    expect(server.seen).toHaveLength(number)
  }
})

test('an attempt that cannot be used is hung up on before the next one', async () => {
  const { server, clock, stream } = await still([starts('{oops'), ok])
  expect(textOf(await settledWith(clock, collect(stream())))).toBe('done')
  await (await server.request(1)).hungUp
})

test('a request leaves no timer behind', async () => {
  const { clock, stream } = await still([refuses(503), ok])
  await settledWith(clock, collect(stream()))
  expect(clock.pending).toBe(0)
})
