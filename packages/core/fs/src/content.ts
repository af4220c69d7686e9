/** Owns what a text file may be made to hold: how much, in which encoding, behind which mark. */
import { asBuffer } from './edit.ts'
import { guessEncoding, markOf, Utf8Count } from './encoding.ts'
import { fsErrors } from './errors.ts'
import { mediaTypeOf } from './media.ts'
import { CHANGE_BYTES_MAX } from './read-text.ts'

/** Where the text starts: after a byte-order mark of UTF-8. */
export function bodyStart(bytes: Uint8Array): number {
  const mark = markOf(bytes)
  return mark?.encoding === 'utf-8' ? mark.length : 0
}

/** The bytes of `content`; a byte-order mark belongs to the file and stays. */
export function bytesOf(content: string, path: string, before: Buffer | undefined): Buffer {
  if (!content.isWellFormed()) throw fsErrors('FS_TEXT_INVALID', { path })
  const bytes = Buffer.from(content, 'utf8')
  const mark = before?.subarray(0, bodyStart(before))
  const whole = mark?.length && bodyStart(bytes) === 0 ? Buffer.concat([mark, bytes]) : bytes
  assertChangeable(whole.length, path)
  return whole
}

export function assertChangeable(size: number, path: string): void {
  if (size > CHANGE_BYTES_MAX) throw fsErrors('FS_TOO_LARGE', { path, size, max: CHANGE_BYTES_MAX })
}

export function assertUtf8(bytes: Buffer, path: string): void {
  const mark = markOf(bytes)
  const refuse = (encoding: string) => fsErrors('FS_NOT_UTF8', { path, encoding })
  if (mark && mark.encoding !== 'utf-8') throw refuse(mark.encoding)
  const type = mediaTypeOf(bytes)
  if (type !== undefined || bytes.includes(0)) throw refuse(type ?? 'binary')
  const count = new Utf8Count()
  count.add(bytes)
  count.finish()
  if (!count.isUtf8) throw refuse(guessEncoding(asBuffer(bytes)))
}
