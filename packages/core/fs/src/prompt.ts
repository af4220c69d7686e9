/** Owns every string of files that a model reads beside the errors: hints, notes and what was cut. */

export const nearMissPrompts = {
  kinds: {
    unicode: 'in the Unicode form of a character',
    quotes: 'in quotes, dashes or special blanks',
    trailing: 'in blanks at the end of a line',
    blanks: 'in blanks, tabs or indentation',
    quotesAndBlanks: 'in quotes and blanks',
    letterCase: 'in upper and lower case',
  },
  differs: (line: number, kind: string) => `line ${line} is nearest and differs ${kind}`,
  partial: (line: number, until: number) =>
    `its first line is at line ${line}, but the text differs from line ${until} on`,
  lineNumbers: 'it holds the line numbers of the read tool; leave them out',
}

/** Stands for a NUL, which no text that is sent to a model may hold. */
export const NUL_SHOWN = '\u2400'

export const readPrompts = {
  lineCut: (line: number, shown: number, bytes: number) =>
    `Line ${line} is cut after ${shown} characters; it has ${bytes} bytes. Search in it to see more.`,
  linesCut: (count: number) => `${count} more lines were cut in the same way.`,
  more: (next: number, total: number | undefined) =>
    `There is more${total === undefined ? '' : `: the file has ${total} lines`}. Continue with offset ${next}.`,
  beyond: (offset: number, total: number) => `The file has ${total} lines; there is no line ${offset}.`,
  empty: 'The file is empty.',
  damaged: (count: number) =>
    `${count} bytes are not valid UTF-8 and are shown as \uFFFD; an edit elsewhere keeps them as they are.`,
  foreign: (encoding: string) => `The file is not UTF-8. It was decoded as ${encoding} and cannot be edited as text.`,
  guessed: (encoding: string) =>
    `The file is not UTF-8. It was decoded as ${encoding}, which is a guess, and cannot be edited as text.`,
  nul: `NUL bytes are shown as ${NUL_SHOWN}. The file cannot be edited as text.`,
  notToEnd: (max: number) =>
    `The file is larger than ${max} bytes and was not read to its end. It can be changed after its last lines were read.`,
  tooLarge: (max: number) => `The file is larger than ${max} bytes: it can be read in parts, but not changed.`,
  binary: (mediaType: string, size: number) => `Binary content (${mediaType}, ${size} bytes) is not shown.`,
  imageTooLarge: (mediaType: string, size: number, max: number) =>
    `The image (${mediaType}, ${size} bytes) is larger than the ${max} bytes that can be shown.`,
  imageBroken: (mediaType: string, size: number) =>
    `The image (${mediaType}, ${size} bytes) is incomplete and is not shown.`,
}

export const changePrompts = {
  changedElsewhere: (from: number, to: number, lines: string) =>
    `The file had changed elsewhere since it was last read. Lines ${from} to ${to} are now:\n${lines}`,
  sameContent: 'The file had this content already.',
  ownerLost: 'The owner of the file could not be kept.',
  diffCut: (lines: number) => `… ${lines} more lines of the difference`,
  diffTooLarge: (removed: number, added: number) =>
    `… too much has changed to show: ${removed} lines before, ${added} after`,
}

export const intentPrompts = {
  failed: (plugin: string, problem: string) => `the plugin ${plugin}, which must be asked, failed: ${problem}`,
  noAnswer: (plugin: string) => `the plugin ${plugin}, which must be asked, gave an answer that is none`,
  conflict: 'two plugins demand different states of the file',
}
