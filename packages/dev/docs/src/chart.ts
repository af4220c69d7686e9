/** Owns labels in Mermaid charts. */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '"': '&quot;',
  '<': '&lt;',
  '>': '&gt;',
  '#': '&#35;',
}

/** A quoted label of one or more lines; characters that would end it are written as entities. */
export function label(lines: readonly string[]): string {
  return `"${lines.map((line) => line.replaceAll(/[&"<>#]/g, (found) => entities[found] ?? found)).join('<br/>')}"`
}
