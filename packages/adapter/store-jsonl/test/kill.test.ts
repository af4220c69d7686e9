import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { killWriter, openHere } from './real-kill.ts'

// BUG-013
test('a real process holds its session until it is killed, and loses nothing that it was promised', async () => {
  const root = await mkdtemp(join(tmpdir(), 'sluice-kill-'))
  const here = await openHere(root)
  try {
    const { acknowledged } = await killWriter(root, 'create', 5, async () => {
      await expect(here.open()).rejects.toMatchObject({ code: 'SESSION_LOCKED' })
    })
    const session = await here.open()
    expect(session.events.map((event) => event.seq)).toEqual([...session.events.keys()])
    expect(session.events.length).toBeGreaterThan(acknowledged)
    const count = (type: string) => session.events.filter((event) => event.type === type).length
    expect(count('tool/result')).toBe(count('assistant/message'))
    await session.close()
    expect((await readdir(join(root, 's'))).filter((name) => name.startsWith('lock'))).toEqual([])
  } finally {
    await here.leave()
    await rm(root, { recursive: true })
  }
}, 120_000)
