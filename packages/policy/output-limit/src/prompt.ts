/** Owns every sentence of this package that a model reads. */

export function lostNote(omitted: number, problem: string): string {
  return `\n[… ${omitted} characters omitted; they could not be kept: ${problem} …]\n`
}

export function omittedNote(omitted: number, digest: string): string {
  return `\n[… ${omitted} characters omitted; the whole text is kept as blob ${digest.slice(0, 12)} …]\n`
}
