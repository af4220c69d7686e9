import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { bundled } from './bundled.ts'

const EVENTS = 1_000_000
/** A fraction of what the events would take together. */
const HEAP_MIB = 32

test('a million events are replayed in a heap of 32 MiB', async () => {
  const root = await mkdtemp(join(tmpdir(), 'sluice-million-'))
  try {
    const program = await bundled(new URL('./scan-million.ts', import.meta.url), root)
    const args = [`--max-old-space-size=${HEAP_MIB}`, program, root, String(EVENTS)]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    console.log(stdout.trim())
    expect(JSON.parse(stdout)).toMatchObject({ count: EVENTS, findings: [] })
  } finally {
    await rm(root, { recursive: true })
  }
})
