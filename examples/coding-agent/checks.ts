/** Owns the checks of a finished run: of the files it left, and of the log it wrote. */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { firstBadStep } from '@sluice/pipeline'
import type { KnownEvent, SessionEvent } from '@sluice/session'
import { callTable, traceOf } from '@sluice/tools'

export interface Check {
  readonly says: string
  readonly problem: string | undefined
}

/** Exit code of `node --test` in `folder`. */
export function runTests(folder: string): Promise<number> {
  const { PATH } = process.env
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ['--test'], { cwd: folder, env: { PATH } }, () =>
      resolve(child.exitCode ?? 1),
    )
  })
}

/** Files that are in one folder only, or differ. */
export async function changedFiles(before: string, after: string): Promise<string[]> {
  const [old, now] = await Promise.all([contents(before), contents(after)])
  return [...new Set([...old.keys(), ...now.keys()])].filter((path) => old.get(path) !== now.get(path)).sort()
}

async function contents(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(
    await Promise.all(files.map(async (file) => [relative(folder, file), await readFile(file, 'latin1')] as const)),
  )
}

/** Checks of the log alone. */
export function logChecks(events: readonly SessionEvent[]): Check[] {
  const known = events as readonly KnownEvent[]
  const calls = known.filter((event) => event.type === 'tool/call').map(({ data }) => data.callId)
  const results = known.filter((event) => event.type === 'tool/result').map(({ data }) => data)
  const unpaired = calls.filter((id) => results.filter(({ callId }) => callId === id).length !== 1)
  const bad = results.flatMap((result) => {
    const step = firstBadStep(callTable, traceOf(result) ?? [])
    return step === undefined ? [] : [`${result.callId}: ${step.problem}`]
  })
  return [
    {
      says: `each of the ${calls.length} calls has one result`,
      problem:
        calls.length > 0 && unpaired.length === 0 && results.length === calls.length
          ? undefined
          : `not so: ${unpaired.join(', ')}`,
    },
    { says: 'each call took only steps of the table', problem: bad.length === 0 ? undefined : bad.join('; ') },
  ]
}

/** That a refused edit was made again after reading, and then landed. */
export function recoveryCheck(events: readonly SessionEvent[]): Check {
  const known = events as readonly KnownEvent[]
  const steps = known.flatMap((event) => {
    if (event.type !== 'tool/result' || !['edit', 'read'].includes(event.data.tool)) return []
    return [`${event.data.tool} ${event.data.outcome.tag === 'succeeded' ? 'succeeded' : 'refused'}`]
  })
  const refused = steps.indexOf('edit refused')
  const read = steps.indexOf('read succeeded', refused)
  const landed = steps.indexOf('edit succeeded', read)
  const fine = refused >= 0 && read > refused && landed > read
  return {
    says: 'an edit of a file that was not read was refused, and the model recovered',
    problem: fine ? undefined : `the edits and reads were: ${steps.join(', ')}`,
  }
}
