/** Owns reading the log of a finished run: from disk, by a process that has nothing else mounted, and what it says of costs. */
import * as sessionPlugin from '@sluice/session'
import type { KnownEvent, SessionEvent } from '@sluice/session'
import * as storePlugin from '@sluice/store-jsonl'
import * as worldPlugin from '@sluice/world-node'
import { Context } from 'cordis'

/** The events of the session `id` as they are on disk. */
export async function reopened(dir: string, id: string): Promise<readonly SessionEvent[]> {
  const ctx = new Context()
  const world = await ctx.plugin(worldPlugin)
  const store = await ctx.plugin(storePlugin, { dir })
  const sessions = await ctx.plugin(sessionPlugin)
  try {
    const session = await ctx.sessions.open(id, 'read')
    if (session.findings.length > 0) throw new Error(`the log is damaged: ${JSON.stringify(session.findings)}`)
    return session.events
  } finally {
    for (const fiber of [sessions, store, world]) await fiber.dispose()
  }
}

/** One line for each call, and what the model was sent and has sent. */
export function costs(events: readonly SessionEvent[]): string {
  const known = events as readonly KnownEvent[]
  const rows = known.flatMap((event) => {
    if (event.type !== 'tool/result') return []
    const { tool, outcome, durationMs = 0, queuedMs = 0, content } = event.data
    const chars = content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)
    return [[tool, outcome.tag, `${durationMs.toFixed(1)} ms`, `${queuedMs.toFixed(1)} ms`, `${chars}`]]
  })
  const table = [['call', 'outcome', 'time', 'queued', 'characters for the model'], ...rows]
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = table.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  )
  const usage = known.flatMap((event) => (event.type === 'assistant/message' ? [event.data.usage ?? {}] : []))
  const sum = (key: 'inputTokens' | 'outputTokens') => usage.reduce((total, item) => total + (item[key] ?? 0), 0)
  return `What it cost:\n${lines.join('\n')}\n  ${usage.length} model requests: ${sum('inputTokens')} tokens in, ${sum('outputTokens')} tokens out`
}
