/** Owns what a content is by its bytes, whatever its name says. */

export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
export type ImageType = (typeof IMAGE_TYPES)[number]

interface Magic {
  readonly type: string
  readonly at: number
  readonly bytes: readonly number[]
}

const ascii = (text: string) => [...Buffer.from(text, 'latin1')]

const magics: readonly Magic[] = [
  { type: 'image/png', at: 0, bytes: [0x89, ...ascii('PNG\r\n'), 0x1a, 0x0a] },
  { type: 'image/jpeg', at: 0, bytes: [0xff, 0xd8, 0xff] },
  { type: 'image/gif', at: 0, bytes: ascii('GIF87a') },
  { type: 'image/gif', at: 0, bytes: ascii('GIF89a') },
  { type: 'image/webp', at: 8, bytes: ascii('WEBP') },
  { type: 'application/pdf', at: 0, bytes: ascii('%PDF-') },
  { type: 'application/zip', at: 0, bytes: [...ascii('PK'), 3, 4] },
  { type: 'application/zip', at: 0, bytes: [...ascii('PK'), 5, 6] },
  { type: 'application/gzip', at: 0, bytes: [0x1f, 0x8b] },
  { type: 'application/x-xz', at: 0, bytes: [0xfd, ...ascii('7zXZ'), 0] },
  { type: 'application/zstd', at: 0, bytes: [0x28, 0xb5, 0x2f, 0xfd] },
  { type: 'application/x-7z-compressed', at: 0, bytes: [...ascii('7z'), 0xbc, 0xaf, 0x27, 0x1c] },
  { type: 'application/x-elf', at: 0, bytes: [0x7f, ...ascii('ELF')] },
  { type: 'application/wasm', at: 0, bytes: [0, ...ascii('asm')] },
  { type: 'application/java-vm', at: 0, bytes: [0xca, 0xfe, 0xba, 0xbe] },
  { type: 'application/x-mach-binary', at: 0, bytes: [0xcf, 0xfa, 0xed, 0xfe] },
  { type: 'application/vnd.sqlite3', at: 0, bytes: [...ascii('SQLite format 3'), 0] },
  { type: 'audio/ogg', at: 0, bytes: [...ascii('OggS'), 0] },
  { type: 'video/mp4', at: 4, bytes: ascii('ftyp') },
  { type: 'font/woff2', at: 0, bytes: ascii('wOF2') },
]

/** Media type by the first bytes; `undefined` when they are of no kind in the table. */
export function mediaTypeOf(head: Uint8Array): string | undefined {
  return magics.find(({ at, bytes }) => bytes.every((byte, i) => head[at + i] === byte))?.type
}

export function isImageType(type: string | undefined): type is ImageType {
  return IMAGE_TYPES.some((known) => known === type)
}

/** True when the image is complete as far as its structure tells: a cut or empty one would be refused by a model. */
export function isWholeImage(bytes: Buffer, type: ImageType): boolean {
  switch (type) {
    case 'image/png':
      return isWholePng(bytes)
    case 'image/jpeg':
      return isWholeJpeg(bytes)
    case 'image/gif':
      return bytes.length > 14 && bytes.readUInt16LE(6) > 0 && bytes.readUInt16LE(8) > 0 && bytes.lastIndexOf(0x3b) > 13
    case 'image/webp':
      return bytes.length > 30 && bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.readUInt32LE(4) + 8 <= bytes.length
  }
}

function isWholePng(bytes: Buffer): boolean {
  if (bytes.length < 33 || bytes.toString('latin1', 12, 16) !== 'IHDR') return false
  if (bytes.readUInt32BE(16) === 0 || bytes.readUInt32BE(20) === 0) return false
  let hasData = false
  for (let at = 8; at + 12 <= bytes.length; ) {
    const kind = bytes.toString('latin1', at + 4, at + 8)
    if (kind === 'IDAT') hasData = true
    if (kind === 'IEND') return hasData
    at += 12 + bytes.readUInt32BE(at)
  }
  return false
}

function isWholeJpeg(bytes: Buffer): boolean {
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return false
    const marker = bytes[at + 1] as number
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return bytes.readUInt16BE(at + 5) > 0 && bytes.readUInt16BE(at + 7) > 0 && hasJpegEnd(bytes)
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2)
  }
  return false
}

function hasJpegEnd(bytes: Buffer): boolean {
  return bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) > 0
}
