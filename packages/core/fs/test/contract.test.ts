import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { World } from '@sluice/base'
import { runContract, simWorld } from '@sluice/testkit'
import { nodeWorld } from '@sluice/world-node'
import { afterAll, describe, it } from 'vitest'
import { fsContract, type FsSubject } from '../src/contract.ts'
import { mounted } from './setup.ts'

async function subject(world: World, root: string): Promise<FsSubject> {
  const ctx = await mounted(world)
  const session = await ctx.sessions.create({ cwd: root })
  let calls = 0
  return { fs: ctx.fs, disk: world.disk, root, call: () => ({ session, call: { id: `c${++calls}`, tool: 'test' } }) }
}

runContract(fsContract, () => subject(simWorld(), '/proj'), { it, describe }, { title: 'files on the simulated disk' })

const real = nodeWorld()
afterAll(() => real.dispose())
const makeRoot = () => realpathSync(mkdtempSync(join(tmpdir(), 'fs-contract-')))
runContract(
  fsContract,
  () => subject(real, makeRoot()),
  { it, describe },
  {
    title: 'files on the real disk',
    dispose: ({ root }) => rmSync(root, { recursive: true, force: true }),
  },
)
