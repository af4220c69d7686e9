/** Owns `sluice undo`: what the calls of a session changed in files, and taking it back. */
import { mintId, type World } from '@sluice/base'
import * as fsPlugin from '@sluice/fs'
import { type ChangeResult, fsErrors, takenBack } from '@sluice/fs'
import type { Session, SessionEvent, SessionEventMap } from '@sluice/session'
import { EXIT } from './exit-code.ts'
import { printableLine } from './printable.ts'
import { refuseDamaged, withSession } from './session-place.ts'
import type { Terminal } from './terminal.ts'

type Change = Readonly<SessionEventMap['fs/changed']>

/** Takes back what `callId` changed; without one, lists the calls that changed files, newest first. */
export function undo(terminal: Terminal, world: World, given: string, callId: string | undefined): Promise<number> {
  return withSession(terminal, world, given, async (ctx, id) => {
    const files = await ctx.plugin(fsPlugin, {})
    try {
      const changes = changesIn(await ctx.sessions.open(id, 'read'))
      if (callId === undefined) return list(terminal, id, changes)
      if (!changes.some((change) => change.callId === callId))
        throw fsErrors('FS_NOTHING_TO_UNDO', { callId, detail: `it changed no file in ${id}` })
      const session = await ctx.sessions.open(id)
      try {
        const call = { id: mintId(world, 'undo'), tool: 'undo' }
        // Looked at before any file is touched: what is undone has to be written down.
        refuseDamaged(session)
        for (const result of await ctx.fs.undo(callId, { session, call })) terminal.write(`${resultText(result)}\n`)
        await session.durable()
        terminal.writeError(`this can be undone: sluice undo ${id} ${call.id}\n`)
        return EXIT.done
      } finally {
        await session.close()
      }
    } finally {
      await files.dispose()
    }
  })
}

function list(terminal: Terminal, id: string, changes: readonly Change[]): number {
  if (changes.length === 0) terminal.writeError(`no call of session ${id} changed a file\n`)
  const back = takenBack(changes)
  const byCall = new Map<string, Set<string>>()
  for (const { callId, path } of changes) byCall.set(callId, (byCall.get(callId) ?? new Set()).add(path))
  for (const [callId, paths] of [...byCall].reverse()) {
    const told = [...paths].map((path) => {
      return `  ${printableLine(path, 200)}${back.get(callId)?.has(path) ? ' (taken back)' : ''}`
    })
    terminal.write(`${printableLine(callId, 100)}${told.join('')}\n`)
  }
  return EXIT.done
}

function changesIn({ events }: Session): readonly Change[] {
  return events.flatMap((event) => (event.type === 'fs/changed' ? [(event as SessionEvent<'fs/changed'>).data] : []))
}

function resultText({ target, after, linesAdded, linesRemoved, notes }: ChangeResult): string {
  const path = printableLine(target.path, 300)
  const head = after ? `restored ${path} (+${linesAdded} −${linesRemoved})` : `removed ${path}`
  return [head, ...notes.map((note) => `  ${printableLine(note, 300)}`)].join('\n')
}
