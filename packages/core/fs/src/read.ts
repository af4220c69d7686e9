/** Owns reading one open file: image, binary or text, told by its bytes. */
import type { DiskFile } from '@sluice/base'
import type { Opened } from './access.ts'
import { HEAD_BYTES, holdsBinary, markOf } from './encoding.ts'
import { type ImageType, isImageType, isWholeImage, mediaTypeOf } from './media.ts'
import { readPrompts } from './prompt.ts'
import { readText } from './read-text.ts'
import type { LineRange, ReadResult } from './types.ts'
import { versionOf } from './versions.ts'

/** Larger images are not shown. */
export const IMAGE_BYTES_MAX = 3_750_000

/** Read at least, because some files of the system have no size. */
const PROBE_BYTES = 4096

export interface ReadOptions {
  /** First line, from 1. */
  readonly offset?: number
  readonly limit?: number
}

export interface ReadOutcome {
  readonly result: ReadResult
  /** Lines that were shown in full; absent when that is the whole file. */
  readonly seen: readonly LineRange[] | undefined
}

export async function readOpened(opened: Opened, options: ReadOptions, signal?: AbortSignal): Promise<ReadOutcome> {
  const head = await readUpTo(
    opened.file,
    Math.min(HEAD_BYTES, Math.max(opened.stat.size, PROBE_BYTES)),
    opened.stat.size,
  )
  const mediaType = mediaTypeOf(head)
  if (isImageType(mediaType)) return readImage(opened, mediaType)
  const mark = markOf(head)
  const isUtf16 = mark?.encoding === 'utf-16le' || mark?.encoding === 'utf-16be'
  if (mediaType !== undefined || mark?.encoding === 'utf-32' || (holdsBinary(head) && !isUtf16)) {
    const type = mediaType ?? 'application/octet-stream'
    return {
      result: { ...bare(opened), kind: 'binary', mediaType: type, cuts: [readPrompts.binary(type, opened.stat.size)] },
      seen: [],
    }
  }
  return readText(opened, head, mark, options, signal)
}

/** The first bytes of a file, up to `length`; fewer only at its end. A short read that comes to `size` is the end. */
export async function readUpTo(file: DiskFile, length: number, size: number): Promise<Buffer> {
  const into = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const count = await file.read(into.subarray(filled), filled)
    filled += count
    if (count === 0 || filled === size) break
  }
  return into.subarray(0, filled)
}

async function readImage(opened: Opened, type: ImageType): Promise<ReadOutcome> {
  const { size } = opened.stat
  const result = { ...bare(opened), mediaType: type }
  if (size > IMAGE_BYTES_MAX) {
    return {
      result: { ...result, kind: 'binary', cuts: [readPrompts.imageTooLarge(type, size, IMAGE_BYTES_MAX)] },
      seen: [],
    }
  }
  const bytes = await readUpTo(opened.file, size + 1, size)
  if (!isWholeImage(bytes, type)) {
    return { result: { ...result, kind: 'binary', cuts: [readPrompts.imageBroken(type, size)] }, seen: [] }
  }
  return { result: { ...result, kind: 'image', version: versionOf(bytes), bytes, cuts: [] }, seen: undefined }
}

function bare({ target }: Opened) {
  const range: LineRange = { from: 1, to: 0 }
  return { target, version: undefined, encoding: '', bom: false, lines: [], range, linesTotal: undefined }
}
