import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { seededRandom } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { bundled } from './bundled.ts'
import { killAndCheck, type Left } from './kill-host.ts'

const KILLS = Number(process.env['SLUICE_SIM_KILLS'] ?? 200)
/** Deaths of one session, one life after the other. */
const LIVES = 20
/** A turn with its commands takes a quarter of that. */
const LATEST_MS = 800

// session-log.md 4.4, 6.1; BUG-002
test('a host killed at any moment of its turns loses nothing acknowledged, runs nothing twice, and leaves no process', async () => {
  const random = seededRandom(Number(process.env['SLUICE_SEED'] ?? 1))
  const home = await mkdtemp(join(tmpdir(), 'sluice-kills-'))
  const deaths: Left[] = []
  try {
    const program = await bundled(new URL('./killed-host.ts', import.meta.url), home)
    for (let first = 0; first < KILLS; first += LIVES) {
      const base = await mkdtemp(join(home, 'life-'))
      const folder = join(base, 'work')
      await mkdir(folder)
      const place = { program, root: join(base, 'sessions'), id: `${basename(home)}-${basename(base)}`, folder }
      let life = 0
      for (let kill = first; kill < Math.min(KILLS, first + LIVES); kill++) {
        const reaper = random.int(2) === 0 ? 'dies' : 'lives'
        // Some die while they open the session of the one before.
        deaths.push(await killAndCheck(place, { life, afterMs: random.int(LATEST_MS), reaper }))
        // Before the first acknowledgement there is no session to go on with.
        if (deaths.at(-1)?.events) life++
      }
    }
  } finally {
    await rm(home, { recursive: true })
  }
  const sum = (of: (death: Left) => number) => deaths.reduce((total, death) => total + of(death), 0)
  const inCalls = deaths.filter(({ interrupted }) => interrupted > 0).length
  console.log(
    `${deaths.length} kills, ${inCalls} of them while calls were open: ${sum((left) => left.interrupted)} calls interrupted, ` +
      `${sum((left) => left.unknown)} of them unknown; ${sum((left) => left.ended)} processes ended at an opening`,
  )
  expect(deaths).toHaveLength(KILLS)
})
