/** Owns which blobs events name. */
import type { Json } from '@sluice/base'
import type { BlobRef, SessionEvent } from './types.ts'

/** Keys under which a digest with a size is a blob; elsewhere it may be that of a file. */
const BLOB_KEYS = /^blobs?$|Blobs?$/
const BODIES = new Set(['system', 'tools'])

/** Blobs that the event says are stored beside the log. */
export function blobsNamedBy({ type, data }: SessionEvent): ReadonlySet<string> {
  const digests = new Set<string>()
  eachReference(data as Json, '', ({ digest }, key) => {
    if (BLOB_KEYS.test(key) || (type === 'request/changed' && BODIES.has(key))) digests.add(digest)
  })
  return digests
}

/** Digests that any of `events` holds, wherever it does: all blobs are among them. */
export function digestsIn(events: readonly SessionEvent[]): ReadonlySet<string> {
  const digests = new Set<string>()
  for (const { data } of events) eachReference(data as Json, '', ({ digest }) => digests.add(digest))
  return digests
}

function eachReference(value: Json, key: string, see: (ref: BlobRef, key: string) => void): void {
  if (typeof value !== 'object' || value === null) return
  const { digest, size } = value as unknown as Partial<BlobRef>
  if (typeof digest === 'string' && typeof size === 'number') see({ digest, size }, key)
  // What stands in a list stands under the key of the list.
  if (Array.isArray(value)) for (const inner of value) eachReference(inner as Json, key, see)
  else for (const [name, inner] of Object.entries(value)) eachReference(inner as Json, name, see)
}
