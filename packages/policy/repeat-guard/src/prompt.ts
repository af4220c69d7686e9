/** Owns every sentence of this package that a model reads. */

export function repeatedReason(tool: string, times: number): string {
  return `${tool} was called ${times} times in the same way without anything new; do something else or say what is in the way`
}
