/** Owns making foreign text safe to show: nothing in it can move the cursor, hide itself or reorder what is read. */

// Control characters except tab and line feed, and the marks that reorder or hide text.
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** The text with every unsafe character written out as `\u{…}`; CR LF becomes LF. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`)
}

/** The value as JSON without any unsafe character: those in its strings are escapes. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The name of a plugin as people know it: without the number that tells two mounts of it apart. */
export function pluginText(by: string): string {
  return printableLine(by.replace(/#(\d+|gone)(?= |$)/, ''), 80)
}

/** {@link printable} on one line of at most `charsMax` characters. */
export function printableLine(text: string, charsMax: number): string {
  return cut(printable(text).replace(/\s+/g, ' ').trim(), charsMax)
}

/** At most `charsMax` UTF-16 units, never half a surrogate pair; an ellipsis stands for what is left out. */
export function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const kept = text.slice(0, charsMax - 1)
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`
}
