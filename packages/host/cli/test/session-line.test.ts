import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { memoryStorePlugin } from '@sluice/session'
import { expect, test } from 'vitest'
import { place, watchedTerminal } from './harness.ts'

/** Runs one task with another store; resolves to what the run says of its session, and its place. */
async function ranWith(store: string) {
  const p = await place({ steps: ['done'], modules: { memory: memoryStorePlugin } })
  const entries = await readFile(p.composition, 'utf8')
  await writeFile(p.composition, entries.replace("- name: '@sluice/store-jsonl'\n", store.replace('DIR', p.folder)))
  const t = watchedTerminal(p.folder)
  expect(await p.sluice(t, 'run', '--composition', p.composition, '--model', 'sim/one', 'go')).toBe(0)
  return { ...p, line: /^session .*\n/m.exec(t.err)?.[0] ?? '' }
}

test('a session that is kept elsewhere is named by its folder, which every command takes', async () => {
  const p = await ranWith("- name: '@sluice/store-jsonl'\n  config:\n    dir: DIR/logs\n")
  const [, id = '', folder = ''] = /^session (\S+), kept in (\S+)\n$/.exec(p.line) ?? []
  expect(folder).toBe(join(p.folder, 'logs', id))
  const shown = watchedTerminal(p.folder)
  expect(await p.sluice(shown, 'session', 'verify', folder)).toBe(0)
  expect(shown.out).toContain(`session ${id} is whole`)
})

test('of a session in a store of another kind a run says that no command reads it', async () => {
  const { line } = await ranWith('- name: memory\n')
  expect(line).toMatch(/^session \S+, kept by a store that `sluice session` does not read\n$/)
})
