/** Owns real randomness: cryptographic, drawn in blocks. */
import { randomFillSync } from 'node:crypto'
import type { RandomSource } from '@sluice/base'

const BLOCK_BYTES = 4096

export function nodeRandom(): RandomSource {
  const block = new Uint8Array(BLOCK_BYTES)
  let used = BLOCK_BYTES
  const bytes = (length: number): Uint8Array => {
    if (length > BLOCK_BYTES) return randomFillSync(new Uint8Array(length))
    if (used + length > BLOCK_BYTES) {
      randomFillSync(block)
      used = 0
    }
    used += length
    return block.slice(used - length, used)
  }
  return {
    bytes,
    // 48 bits fit a double exactly, so 1 is never reached.
    float: () => bytes(6).reduce((sum, byte) => sum * 256 + byte, 0) / 2 ** 48,
  }
}
