import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { killWriter, openHere } from './real-kill.ts'

const KILLS = 200

test('a process killed at many moments, one life after the other, never loses what it was promised', async () => {
  const root = await mkdtemp(join(tmpdir(), 'sluice-kills-'))
  const random = seededRandom(1)
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const { acknowledged } = await killWriter(root, kill === 0 ? 'create' : 'open', random.int(20))
      const here = await openHere(root)
      const session = await here.open()
      expect(
        session.findings.filter((finding) => finding.kind !== 'torn-tail'),
        `kill ${kill}`,
      ).toEqual([])
      expect(session.events.length, `kill ${kill}`).toBeGreaterThan(acknowledged)
      const count = (type: string) => session.events.filter((event) => event.type === type).length
      expect(count('tool/result'), `kill ${kill}`).toBe(count('assistant/message'))
      await here.leave()
    }
  } finally {
    await rm(root, { recursive: true })
  }
})
