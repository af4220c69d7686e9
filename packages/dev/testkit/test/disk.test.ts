import { describe, it } from 'vitest'
import { diskContract, diskPermissionContract, runContract, simWorld } from '../src/index.ts'

const subjects = (options: Parameters<typeof simWorld>[0]) => () => {
  const { disk, host } = simWorld({ ...options, files: { '/proj/root': null } })
  return { disk, root: '/proj/root', umask: host.umask }
}

runContract(diskContract, subjects({}), { it, describe }, { title: 'the simulated disk' })
runContract(diskContract, subjects({ uid: 0 }), { it, describe }, { title: 'the simulated disk for the superuser' })
runContract(diskContract, subjects({ naming: 'folding' }), { it, describe }, { title: 'the folding simulated disk' })
runContract(diskContract, subjects({ shuffleTurns: 3 }), { it, describe }, { title: 'the shuffled simulated disk' })
runContract(diskPermissionContract, subjects({}), { it, describe }, { title: 'permissions of the simulated disk' })
