import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setup } from './setup.ts'

const ending = fc.constantFrom('\n', '\r\n', '\r', '')
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 10 }),
  fc.constantFrom('\u{1F600}', '\u00E9', 'e\u0301', '\t'),
)
// A mark at the start of the new text would be dropped in a file that has one.
const newTexts = text.filter((words) => !words.startsWith('\uFEFF'))
const piece = fc.tuple(text, fc.uint8Array({ maxLength: 2 }), ending)
const content = fc.tuple(fc.boolean(), fc.array(piece, { maxLength: 10 })).map(([mark, pieces]) => {
  const bytes = pieces.flatMap(([words, junk, end]) => [Buffer.from(words), Buffer.from(junk), Buffer.from(end)])
  return Buffer.concat([Buffer.from(mark ? '\uFEFF' : ''), ...bytes])
})
const MARK = '\u2021\u00A7here\u00A7\u2021'

test('an edit changes the match alone on disk, and undo restores every byte, for any file', async () => {
  await fc.assert(
    fc.asyncProperty(content, content, newTexts, async (before, after, newText) => {
      const original = Buffer.concat([before, Buffer.from(MARK), after])
      const { ctx, world, call } = await setup({ files: { '/proj/f': original } })
      const onDisk = async () => {
        const file = await world.disk.open('/proj/f', { read: true })
        const into = Buffer.alloc(4096)
        const count = await file.read(into, 0)
        await file.close()
        return into.subarray(0, count)
      }
      const edit = ctx.fs.edit('f', [{ oldText: MARK, newText }], call('c1'))
      const code = await edit.then(
        () => undefined,
        (error: { code: string }) => error.code,
      )
      if (code !== undefined) {
        expect(code).toBe('FS_NOT_UTF8')
        expect(await onDisk()).toEqual(original)
        return
      }
      expect(await onDisk()).toEqual(Buffer.concat([before, Buffer.from(newText), after]))
      await ctx.fs.undo('c1', call())
      expect(await onDisk()).toEqual(original)
      expect(world.disk.openFiles).toBe(0)
    }),
    { numRuns: 80 },
  )
}, 60_000)
