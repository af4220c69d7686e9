import type { Message } from '@sluice/llm'
import type { Session } from '@sluice/session'
import { afterEach, expect, test } from 'vitest'
import { delta, type Endpoint, endpoint, sends } from './endpoint.ts'
import { collect, mounted, type requestOf, tool } from './mounted.ts'

let server: Endpoint | undefined
afterEach(() => server?.close())

/** The body that goes out for a request. */
async function sent(request: Parameters<typeof requestOf>[0], config: { reasoning?: 'send' | 'drop' } = {}) {
  server = await endpoint(sends(delta({}, 'stop')))
  const { stream } = await mounted({ baseURL: server.baseURL, ...config })
  await collect(stream(request))
  const [seen] = server.seen
  expect(hasLoneSurrogate(seen?.text ?? '')).toBe(false)
  return seen?.body
}

/** What a strict checker refuses: an escape of half a character, in the body or inside a quoted argument text. */
function hasLoneSurrogate(text: string): boolean {
  return /(?<!\\ud[89ab]..)\\ud[c-f]..|\\ud[89ab]..(?!\\ud[c-f])/i.test(text) || !text.isWellFormed()
}

const text = (value: string) => ({ type: 'text' as const, text: value })
const call = (id: string, name: string, argumentsText: string) => ({
  type: 'tool-call' as const,
  id,
  name,
  argumentsText,
})
const result = (callId: string, name: string, ...content: Extract<Message, { role: 'tool' }>['content']): Message => ({
  role: 'tool',
  callId,
  tool: name,
  content,
  isError: false,
})

test('a history goes out as chat messages, each result right after its assistant message', async () => {
  const body = await sent({
    messages: [
      { role: 'user', content: [text('look')] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm' },
          text('Yes.'),
          call('c1', 'read', '{"path": "a"}'),
          call('c2', 'read', ''),
        ],
      },
      result('c1', 'read', text('A'), text('B')),
      result('c2', 'read'),
      { role: 'user', content: [text('go on')] },
    ],
    tools: [tool('read')],
    outputTokensMax: 100,
    temperature: 0,
  })
  expect(body).toEqual({
    model: 'model-1',
    max_tokens: 100,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
    tools: [
      { type: 'function', function: { name: 'read', description: '', parameters: { type: 'object', properties: {} } } },
    ],
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'look' },
      {
        role: 'assistant',
        content: 'Yes.',
        reasoning_content: 'hm',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path": "a"}' } },
          { id: 'c2', type: 'function', function: { name: 'read', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'A\nB' },
      { role: 'tool', tool_call_id: 'c2', content: '(no output)' },
      { role: 'user', content: 'go on' },
    ],
  })
})

// BUG-074, BUG-077
test.each([
  ['{"path":"a","content":"xx', '{}'],
  ['[1]', '{}'],
  ['null', '{}'],
  ['"{}"', '{}'],
  ['{"n":1e999}', '{"n":1e999}'],
  ['{"__proto__":{"a":1},"s":"x"}', '{"__proto__":{"a":1},"s":"x"}'],
  ['{"a":"\\ud83d","\\udc00":1,"ok":"\\ud83d\\ude00"}', '{"a":"\ufffd","\ufffd":1,"ok":"😀"}'],
])('past argument text %s goes out as %s', async (argumentsText, expected) => {
  const body = await sent({
    messages: [{ role: 'assistant', content: [call('c1', 'read', argumentsText)] }, result('c1', 'read', text('no'))],
  })
  expect(body.messages[1].tool_calls[0].function.arguments).toBe(expected)
})

// BUG-075
test('half a character never leaves, wherever it stands', async () => {
  const half = 'a\ud83d'
  const body = await sent({
    system: half,
    messages: [
      { role: 'user', content: [text('\udc00x 😀')] },
      { role: 'assistant', content: [text(half), call(half, half, `{"k":"${half}"}`)] },
      result(half, half, text(half)),
    ],
    tools: [
      {
        name: 'read',
        description: half,
        parameters: { type: 'object', properties: { [half]: { description: half } } },
      },
    ],
  })
  expect(body.messages[1].content).toBe('\ufffdx 😀')
  expect(body.tools[0].function.parameters.properties).toEqual({ 'a\ufffd': { description: 'a\ufffd' } })
})

// BUG-067
test('a name that a model made up goes out in a form that endpoints take', async () => {
  const names = ['a.b c/工具', '', 'x'.repeat(80)]
  const body = await sent({
    messages: names.flatMap((name, index): Message[] => [
      { role: 'assistant', content: [call(`c${index}`, name, '{}')] },
      result(`c${index}`, name, text('no such tool')),
    ]),
  })
  const out = body.messages
    .filter((message: { role: string }) => message.role === 'assistant')
    .map((message: { tool_calls: { function: { name: string } }[] }) => message.tool_calls[0]?.function.name)
  expect(out).toEqual(['a_b_c___', '_', 'x'.repeat(64)])
})

test('messages without content are left out', async () => {
  const body = await sent({
    system: '',
    messages: [
      { role: 'user', content: [text('')] },
      { role: 'assistant', content: [{ type: 'reasoning', text: 'only thoughts' }] },
      { role: 'assistant', content: [text('')] },
      { role: 'user', content: [text('a'), text('b')] },
    ],
  })
  expect(body.messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
  ])
})

test('past reasoning can be kept back', async () => {
  const messages: Message[] = [{ role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }, text('Yes.')] }]
  expect((await sent({ messages }, { reasoning: 'drop' })).messages[1]).toEqual({ role: 'assistant', content: 'Yes.' })
})

test('images go out as images, those of results behind the last result, and missing ones are named', async () => {
  const blob = { digest: 'd1', size: 3 }
  const gone = { digest: 'd2', size: 9 }
  const session = {
    getBlob: (ref: typeof blob) => Promise.resolve(ref === blob ? new Uint8Array([1, 2, 3]) : undefined),
  } as unknown as Session
  const image = (ref: typeof blob) => ({ type: 'image' as const, mediaType: 'image/png', blob: ref })
  const body = await sent({
    session,
    messages: [
      { role: 'user', content: [text('see'), image(blob), image(gone)] },
      { role: 'assistant', content: [call('c1', 'read', '{}'), call('c2', 'read', '{}')] },
      result('c1', 'read', text('a picture'), image(blob)),
      result('c2', 'read', text('B')),
    ],
  })
  const url = { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } }
  expect(body.messages[1].content).toEqual([
    { type: 'text', text: 'see' },
    url,
    { type: 'text', text: '[an image stood here (image/png, 9 bytes); its bytes are not available any more]' },
  ])
  expect(body.messages.slice(3)).toEqual([
    { role: 'tool', tool_call_id: 'c1', content: 'a picture\n[image 1 of this result follows after the results]' },
    { role: 'tool', tool_call_id: 'c2', content: 'B' },
    { role: 'user', content: [{ type: 'text', text: 'Image 1 of the result of read (call c1):' }, url] },
  ])
})
