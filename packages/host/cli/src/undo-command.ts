/** Owns `sluice undo`: what the calls of a session changed in files, and taking it back. */
import { mintId, type World } from '@sluice/base'
import * as fsPlugin from '@sluice/fs'
import { type ChangeResult, fsErrors } from '@sluice/fs'
import type { Session, SessionEvent } from '@sluice/session'
import { EXIT } from './exit-code.ts'
import { printableLine } from './printable.ts'
import { refuseDamaged, withSession } from './session-place.ts'
import type { Terminal } from './terminal.ts'

/** Takes back what `callId` changed; without one, lists the calls that changed files, newest first. */
export function undo(terminal: Terminal, world: World, given: string, callId: string | undefined): Promise<number> {
  return withSession(terminal, world, given, async (ctx, id) => {
    const files = await ctx.plugin(fsPlugin, {})
    try {
      const changed = changedFiles(await ctx.sessions.open(id, 'read'))
      if (callId === undefined) return list(terminal, id, changed)
      if (!changed.has(callId)) throw fsErrors('FS_NOTHING_TO_UNDO', { callId, detail: `it changed no file in ${id}` })
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

function list(terminal: Terminal, id: string, changed: ReadonlyMap<string, ReadonlySet<string>>): number {
  if (changed.size === 0) terminal.writeError(`no call of session ${id} changed a file\n`)
  for (const [callId, paths] of [...changed].reverse()) {
    terminal.write(`${printableLine(callId, 100)}  ${[...paths].map((path) => printableLine(path, 200)).join('  ')}\n`)
  }
  return EXIT.done
}

/** Paths by call. */
function changedFiles({ events }: Session): ReadonlyMap<string, ReadonlySet<string>> {
  const byCall = new Map<string, Set<string>>()
  for (const event of events) {
    if (event.type !== 'fs/changed') continue
    const { callId, path } = (event as SessionEvent<'fs/changed'>).data
    byCall.set(callId, (byCall.get(callId) ?? new Set()).add(path))
  }
  return byCall
}

function resultText({ target, after, linesAdded, linesRemoved, notes }: ChangeResult): string {
  const path = printableLine(target.path, 300)
  const head = after ? `restored ${path} (+${linesAdded} −${linesRemoved})` : `removed ${path}`
  return [head, ...notes.map((note) => `  ${printableLine(note, 300)}`)].join('\n')
}
