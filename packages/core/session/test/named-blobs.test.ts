import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { mount } from './mount.ts'

// session-log.md 3.5: a line that told that it was stored may be lost.
test('a scan looks at every blob that an event names, and takes no digest of a file for one', async () => {
  const { sessions } = (await mount()).ctx
  sessions.define({
    'test/pictures': {
      version: 1,
      meaning: 'x',
      schema: Type.Object({ blobs: Type.Array(Type.Any()), file: Type.Any(), system: Type.Any() }),
    },
  })
  const session = await sessions.create({ cwd: '/proj', id: 's' })
  const ref = (letter: string) => ({ digest: letter.repeat(64), size: 1 })
  const image = { type: 'image', mediaType: 'image/png', blob: ref('a') } as const
  session.append('user/message', { content: [image], source: 'user' })
  session.append('request/changed', { model: 'm', system: ref('b'), tools: ref('c'), toolNames: [] })
  session.append('test/pictures', { blobs: [ref('d'), ref('e')], file: ref('f'), system: ref('9') })
  const outcome = { tag: 'succeeded', executed: 'yes' } as const
  const card = { v: 1, kind: 'generic', title: 't' } as const
  const valueBlob = { blob: ref('0'), preview: '' }
  session.append('tool/result', { callId: 'c', tool: 't', outcome, content: [], card, valueBlob })
  await session.close()
  const first = (await sessions.scan('s', () => {})).map(({ kind, line, detail }) => [kind, line, detail.slice(9, 10)])
  expect(first).toEqual([
    ['missing-blob', 2, 'a'],
    ['missing-blob', 3, 'b'],
    ['missing-blob', 3, 'c'],
    ['missing-blob', 4, 'd'],
    ['missing-blob', 4, 'e'],
    ['missing-blob', 5, '0'],
  ])
})
