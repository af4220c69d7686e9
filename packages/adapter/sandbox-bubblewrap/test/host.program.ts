/** A host of its own: starts its last argument confined to its working folder, and waits for it. */
import { confinedTo } from '@sluice/sandbox/contract'
import { nodeWorld } from '@sluice/world-node'
import { adapterOn } from './adapter.ts'

const world = nodeWorld()
const { adapter } = await adapterOn(world)
const cwd = process.cwd()
const command = process.argv.at(-1) as string
const options = { file: 'bash', args: ['-c', command], cwd, env: { PATH: process.env['PATH'] ?? '' } }
const child = await adapter.spawn(options, confinedTo(cwd))
await child.exited
