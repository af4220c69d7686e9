/** Owns the unified difference of two contents: bounded in work and in length. */
import { structuredPatch } from 'diff'
import { asBuffer } from './edit.ts'
import { changePrompts } from './prompt.ts'

/** Length of a difference as it is shown. */
export const DIFF_CHARACTERS_MAX = 16 * 1024
/** Changed lines that are compared one by one; beyond that the whole part counts as replaced. */
const EDIT_LINES_MAX = 2000
/** Lines kept around a change. */
const CONTEXT_LINES = 3
const LINE_CHARACTERS_MAX = 400
const LF = 10

export interface Difference {
  readonly text: string
  readonly linesAdded: number
  readonly linesRemoved: number
  /** Lines of the new content around the first change, 1-based and inclusive. */
  readonly around: { readonly from: number; readonly to: number; readonly text: string }
}

export function difference(path: string, before: Uint8Array | undefined, after: Uint8Array | undefined): Difference {
  const old = asBuffer(before ?? new Uint8Array())
  const now = asBuffer(after ?? new Uint8Array())
  const { from, oldTo, newTo } = changedPart(old, now)
  const firstLine = lineOf(old, from)
  const patch = structuredPatch('', '', old.toString('utf8', from, oldTo), now.toString('utf8', from, newTo), '', '', {
    context: CONTEXT_LINES,
    maxEditLength: EDIT_LINES_MAX,
  })
  const head = [`--- ${before ? path : '/dev/null'}`, `+++ ${after ? path : '/dev/null'}`]
  if (!patch) {
    const removed = lineOf(old, oldTo) - firstLine
    const added = lineOf(now, newTo) - firstLine
    const text = [...head, changePrompts.diffTooLarge(removed, added)].join('\n')
    return { text, linesAdded: added, linesRemoved: removed, around: { from: firstLine, to: firstLine, text: '' } }
  }
  const lines = patch.hunks.flatMap((hunk) => {
    // By convention an empty side starts at the line before.
    const oldStart = hunk.oldStart + firstLine - (hunk.oldLines === 0 ? 2 : 1)
    const newStart = hunk.newStart + firstLine - (hunk.newLines === 0 ? 2 : 1)
    return [`@@ -${oldStart},${hunk.oldLines} +${newStart},${hunk.newLines} @@`, ...hunk.lines.map(shown)]
  })
  const changed = patch.hunks.flatMap((hunk) => hunk.lines)
  const first = patch.hunks[0]
  const start = (first?.newStart ?? 1) + firstLine - 1
  return {
    text: bounded([...head, ...lines]),
    linesAdded: changed.filter((line) => line.startsWith('+')).length,
    linesRemoved: changed.filter((line) => line.startsWith('-')).length,
    around: {
      from: start,
      to: start + Math.max(1, first?.newLines ?? 1) - 1,
      text: bounded(newLines(first?.lines ?? [])),
    },
  }
}

/** The part that differs, in whole lines, with a few equal lines around it. */
function changedPart(old: Buffer, now: Buffer): { from: number; oldTo: number; newTo: number } {
  const most = Math.min(old.length, now.length)
  let same = 0
  while (same < most && old[same] === now[same]) same++
  let tail = 0
  while (tail < most - same && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++
  let from = same
  for (let lines = 0; lines <= CONTEXT_LINES && from > 0; lines++) from = old.lastIndexOf(LF, from - 2) + 1
  let oldTo = old.length - tail
  for (let lines = 0; lines <= CONTEXT_LINES && oldTo < old.length; lines++) {
    const end = old.indexOf(LF, oldTo)
    oldTo = end === -1 ? old.length : end + 1
  }
  return { from, oldTo, newTo: now.length - (old.length - oldTo) }
}

function lineOf(bytes: Buffer, position: number): number {
  let line = 1
  for (let at = bytes.indexOf(LF); at !== -1 && at < position; at = bytes.indexOf(LF, at + 1)) line++
  return line
}

function shown(line: string): string {
  const bare = line.endsWith('\r') ? line.slice(0, -1) : line
  return (bare.length > LINE_CHARACTERS_MAX ? `${bare.slice(0, LINE_CHARACTERS_MAX)}…` : bare).toWellFormed()
}

function newLines(lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith('+') || line.startsWith(' ')).map((line) => shown(line).slice(1))
}

function bounded(lines: readonly string[]): string {
  let length = 0
  const kept = lines.findIndex((line) => (length += line.length + 1) > DIFF_CHARACTERS_MAX)
  if (kept === -1) return lines.join('\n')
  return [...lines.slice(0, kept), changePrompts.diffCut(lines.length - kept)].join('\n')
}
