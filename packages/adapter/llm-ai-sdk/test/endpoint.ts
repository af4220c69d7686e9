/** Owns a raw endpoint for tests: each request is answered by the next handler, byte by byte as it likes. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SeenRequest {
  readonly headers: IncomingMessage['headers']
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  readonly text: string
  readonly query: string
  /** Resolves when the connection of this request is gone before the answer was complete. */
  readonly hungUp: Promise<void>
}

export type Handler = (response: ServerResponse, seen: SeenRequest) => void

export interface Endpoint {
  readonly baseURL: string
  readonly seen: readonly SeenRequest[]
  /** Resolves with the n-th request, counted from 1. */
  request(number: number): Promise<SeenRequest>
  close(): Promise<void>
}

/** The last handler answers every further request. */
export async function endpoint(...handlers: Handler[]): Promise<Endpoint> {
  const seen: SeenRequest[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => void answer(request, response))
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const hungUp = new Promise<void>((resolve) => {
      response.once('close', () => (response.writableFinished ? undefined : resolve()))
    })
    const query = new URL(request.url ?? '', 'http://x').search
    const one: SeenRequest = { headers: request.headers, query, body: JSON.parse(text), text, hungUp }
    seen.push(one)
    for (const wake of waiting) wake()
    const handler = handlers[Math.min(seen.length, handlers.length) - 1] as Handler
    handler(response, one)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    async request(number) {
      while (seen.length < number) {
        await new Promise<void>((resolve) => {
          const wake = () => {
            waiting.delete(wake)
            resolve()
          }
          waiting.add(wake)
        })
      }
      return seen[number - 1] as SeenRequest
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

export const head = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })

export const event = (chunk: unknown) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`

/** A chunk with this delta. */
export const delta = (fields: object, finish: string | null = null) => ({
  id: 'x',
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
})

export const calls = (...pieces: object[]) => delta({ tool_calls: pieces })

/** Sends the chunks as an event stream and ends it properly. */
export const sends =
  (...chunks: unknown[]): Handler =>
  (response) => {
    head(response)
    response.end([...chunks, '[DONE]'].map(event).join(''))
  }
