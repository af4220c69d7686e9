/** Owns a host that ends in the way its argument says; it prints the pid of its child first. */
import { nodeWorld } from '../src/index.ts'

const { processes } = nodeWorld()
const env = { PATH: process.env['PATH'] ?? '' }
const ways: Readonly<Record<string, () => Promise<void>>> = {
  async exit() {
    console.log(await startChild('exec sleep 100'))
    process.exit(0)
  },
  async wait() {
    console.log(await startChild('exec sleep 100'))
  },
  async decide() {
    process.on('SIGTERM', () => console.log('decided'))
    console.log(await startChild('trap "exit 7" TERM; while :; do sleep 0.01; done'))
  },
  async detach() {
    const child = await start('sleep 100 & echo started')
    await child.exited
    child.detachOutput()
    console.log(child.pid)
  },
}

function start(script: string) {
  return processes.spawn({ file: 'sh', args: ['-c', script], cwd: '/', env, onStdout: () => {}, onStderr: () => {} })
}

async function startChild(script: string): Promise<number> {
  return (await start(script)).pid
}

await ways[process.argv[2] ?? '']?.()
