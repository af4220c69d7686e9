/** Owns every string that this adapter puts before a model. */
import type { ImagePart } from '@sluice/llm'

/** Strict endpoints refuse a result without content. */
export const noOutput = '(no output)'

/** Stands where a message had an image whose bytes are gone. */
export const missingImage = (mediaType: string, blob: ImagePart['blob']) =>
  `[an image stood here (${mediaType}, ${blob.size} bytes); its bytes are not available any more]`

/** Stands in a result where an image follows in a message of its own. */
export const imageFollows = (number: number) => `[image ${number} of this result follows after the results]`

export const imageOfResult = (number: number, tool: string, callId: string) =>
  `Image ${number} of the result of ${tool} (call ${callId}):`

/** Said in a tool's schema when the endpoint takes no alternatives at its root. */
export const oneOfGroups = (groups: readonly string[]) =>
  `Give the fields of one of these groups: ${groups.join('; ')}.`
export const groupOf = (fields: readonly string[]) => (fields.length === 0 ? 'none' : fields.join(', '))
