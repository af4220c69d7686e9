import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StoreSubject, storeContract } from '@sluice/session/contract'
import { runContract, simWorld } from '@sluice/testkit'
import { nodeWorld } from '@sluice/world-node'
import { describe, it } from 'vitest'
import { jsonlStore } from '../src/index.ts'

const simulated = () => {
  const world = simWorld()
  const store = jsonlStore(world, '/proj/sessions')
  return { store, again: () => jsonlStore(world, '/proj/sessions') }
}
runContract(storeContract, simulated, { it, describe }, { title: 'JSONL store on the simulated disk' })

interface RealSubject extends StoreSubject {
  readonly root: string
  readonly end: () => void
}

const real = async (): Promise<RealSubject> => {
  const world = nodeWorld()
  const root = await mkdtemp(join(tmpdir(), 'sluice-store-'))
  return { end: () => world.dispose(), root, store: jsonlStore(world, root), again: () => jsonlStore(world, root) }
}
runContract<RealSubject>(
  storeContract,
  real,
  { it, describe },
  {
    title: 'JSONL store on the real disk',
    async dispose({ end, root }) {
      end()
      await rm(root, { recursive: true })
    },
  },
)
