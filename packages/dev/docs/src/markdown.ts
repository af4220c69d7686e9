/** Owns writing Markdown: cells, tables, code and the head of a page. */

import { type Participant, participantText } from '@sluice/graph'

/** A cell holds one line; a bar would end it. */
export function cell(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')
}

export function code(text: string): string {
  return `\`${text}\``
}

/** With the entry that brought it. */
export function participant(who: Participant): string {
  return participantText(who, who.from === undefined ? undefined : code(who.from))
}

/** A list in a cell. */
export function list(items: readonly string[]): string {
  return items.length === 0 ? 'nobody' : items.join(', ')
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** A block of code; its fence is longer than any in the text. */
export function fence(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length))
  const mark = '`'.repeat(longest + 1)
  return `${mark}${language}\n${text.trimEnd()}\n${mark}`
}

/** A page: title, where it comes from, then its parts with empty lines between. */
export function page(title: string, source: string, parts: readonly string[]): string {
  const origin = `Printed from the running composition \`${source}\` by \`pnpm gen-doc-graphs\`; not edited by hand.`
  return `${[`# ${title}`, origin, ...parts].map((part) => part.trim()).join('\n\n')}\n`
}
