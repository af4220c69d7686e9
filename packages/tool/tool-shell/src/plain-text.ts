/** Owns turning what a program prints for a terminal into plain text, piece by piece. */

/** Longest unfinished escape sequence that is waited for. */
const HELD_MAX = 4096

// oxlint-disable-next-line no-control-regex
const sequences = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\`-~])/g
// oxlint-disable-next-line no-control-regex
const unfinished = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)$/
/** Everything below space that is no tab, line feed or carriage return. */
// oxlint-disable-next-line no-control-regex
const controls = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g

/** One per stream: an escape sequence may be cut between two pieces. */
export class PlainText {
  private held = ''

  push(piece: string): string {
    let text = this.held + piece
    this.held = ''
    if (text.includes('\x1b')) {
      text = text.replace(sequences, '')
      const rest = unfinished.exec(text)
      if (rest && rest[0].length <= HELD_MAX) {
        this.held = rest[0]
        text = text.slice(0, rest.index)
      }
    }
    return text.replace(controls, '')
  }

  flush(): string {
    const rest = this.held.replace(controls, '')
    this.held = ''
    return rest
  }
}

/** Lines as they stand at the end: what a carriage return overwrote is gone. */
export function settledLines(text: string): string {
  if (!text.includes('\r')) return text
  return text
    .split('\n')
    .map((line) => {
      const whole = line.replace(/\r+$/, '')
      return whole.slice(whole.lastIndexOf('\r') + 1)
    })
    .join('\n')
}
