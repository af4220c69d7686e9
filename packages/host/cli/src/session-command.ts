/** Owns looking at recorded sessions without mounting any policy or tool: list, show, verify, export. */
import { resolve } from 'node:path'
import { isDiskError, type World } from '@sluice/base'
import type { LogFinding, SessionSummary } from '@sluice/session'
import { defaultRoot } from '@sluice/store-jsonl'
import { cliErrors } from './errors.ts'
import { EXIT } from './exit-code.ts'
import { type ExportFormat, exported } from './export.ts'
import { momentText } from './moments.ts'
import { printableLine } from './printable.ts'
import { withSession, withSessions } from './session-place.ts'
import type { Terminal } from './terminal.ts'
import { showRecorded } from './view.ts'

/** Text that is written to a file at once. */
const PIECE_CHARACTERS = 1 << 20

/** Lists sessions, newest first. */
export async function listSessions(terminal: Terminal, world: World): Promise<number> {
  const list = await withSessions(world, undefined, (ctx) => ctx.sessions.list())
  if (list.length === 0) terminal.writeError(`there are no sessions in ${defaultRoot(world.host)}\n`)
  for (const summary of list) terminal.write(`${summary.id}  ${summaryText(summary)}\n`)
  return EXIT.done
}

/** What a list tells of a session besides its id. */
export function summaryText({ cwd, startedAt, last, problem, damage }: SessionSummary): string {
  if (problem !== undefined) return `! ${printableLine(problem, 200)}`
  const parts = [momentText(startedAt), ...(last ? [lastText(last)] : []), printableLine(cwd, 200)]
  if (damage) parts.push(`! damaged at ${findingText(damage)}`)
  return parts.join('  ')
}

/** Shows a session as it went. */
export function showSession(terminal: Terminal, world: World, given: string): Promise<number> {
  return withSession(terminal, world, given, async (ctx, id) => {
    const session = await ctx.sessions.open(id, 'read')
    showRecorded(terminal, session)
    const last = session.events.at(-1)
    if (last) terminal.write(`\n${lastText(last)}\n`)
    return told(session.findings, (text) => terminal.writeError(text))
  })
}

/** Reads a whole log and names everything that is wrong with it. */
export function verifySession(terminal: Terminal, world: World, given: string): Promise<number> {
  return withSession(terminal, world, given, async (ctx, id) => {
    let count = 0
    const findings = await ctx.sessions.scan(id, () => count++)
    if (findings.length === 0) terminal.write(`session ${id} is whole: ${count} ${count === 1 ? 'event' : 'events'}\n`)
    return told(findings, (text) => terminal.write(text))
  })
}

export interface ExportOptions {
  readonly format: ExportFormat
  readonly output?: string
}

/** Writes a session as one text, to standard output or to a file that is not there yet. */
export function exportSession(
  terminal: Terminal,
  world: World,
  given: string,
  { format, output }: ExportOptions,
): Promise<number> {
  return withSession(terminal, world, given, async (ctx, id) => {
    const session = await ctx.sessions.open(id, 'read')
    const pieces = exported(session, format)
    if (output === undefined) for (const piece of pieces) terminal.write(piece)
    else await writeNew(world, resolve(terminal.cwd, output), pieces)
    return told(session.findings, (text) => terminal.writeError(text))
  })
}

/** A file that is there is left alone, one that could not be written whole is removed. */
async function writeNew({ disk }: World, path: string, pieces: Iterable<string>): Promise<void> {
  const failure = (error: unknown) => {
    if (!isDiskError(error)) return error
    if (error.code === 'EEXIST') return cliErrors('CLI_FILE_EXISTS', { path })
    return cliErrors('CLI_FILE_UNWRITABLE', { path, code: error.code }, { cause: error })
  }
  const options = { write: true, create: true, exclusive: true, mode: 0o600 }
  const file = await disk.open(path, options).catch((error: unknown) => Promise.reject(failure(error) as Error))
  try {
    let waiting = ''
    let at = 0
    const flush = async () => {
      const bytes = Buffer.from(waiting)
      await file.write(bytes, at)
      at += bytes.length
      waiting = ''
    }
    for (const piece of pieces) {
      waiting += piece
      if (waiting.length >= PIECE_CHARACTERS) await flush()
    }
    await flush()
    await file.sync()
    await file.close()
  } catch (error) {
    await file.close().catch(() => {})
    await disk.unlink(path).catch(() => {})
    throw failure(error)
  }
}

/** Names each finding; resolves to what they mean for the exit code. */
export function told(findings: readonly LogFinding[], write: (text: string) => void): number {
  for (const finding of findings) write(`${findingText(finding)}\n`)
  return findings.length > 0 ? EXIT.failed : EXIT.done
}

function findingText({ line, kind, detail }: LogFinding): string {
  return `line ${line}: ${kind}: ${printableLine(detail, 300)}`
}

function lastText({ seq, at }: { readonly seq: number; readonly at: number }): string {
  return `last event ${seq} at ${momentText(at)}`
}
