/** Owns a process that writes a log of many events and replays it, both without keeping them, in whatever heap it is given. */
import { closeSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { nodeWorld } from '@sluice/world-node'
import { jsonlStore } from '../src/index.ts'
import { encodeRecord } from '../src/record.ts'

const [root = '', events = ''] = process.argv.slice(2)
const EACH = 1_000

mkdirSync(join(root, 's'), { recursive: true })
const path = join(root, 's', 'events.jsonl')
const file = openSync(path, 'w')
for (let seq = 0; seq < Number(events); seq += EACH) {
  const lines = Array.from({ length: EACH }, (_, index) => line(seq + index))
  writeSync(file, lines.join(''))
}
closeSync(file)

function line(seq: number): string {
  const start = { format: 1, id: 's', cwd: '/proj' }
  const said = { content: [{ type: 'text', text: `message ${seq} ${'x'.repeat(150)}` }], source: 'user' }
  const event = seq === 0 ? { type: 'session/started', data: start } : { type: 'user/message', data: said }
  return encodeRecord(JSON.stringify({ seq, at: 1, ...event }))
}

let count = 0
let rssMax = 0
const before = process.memoryUsage.rss()
const findings = await jsonlStore(nodeWorld(), root).scan('s', () => {
  if (++count % 10_000 === 0) rssMax = Math.max(rssMax, process.memoryUsage.rss())
})
const MiB = 1 << 20
console.log(
  JSON.stringify({
    count,
    findings,
    fileMiB: statSync(path).size / MiB,
    grownMiB: (rssMax - before) / MiB,
    rssMiB: rssMax / MiB,
  }),
)
process.exit(0)
