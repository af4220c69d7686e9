/** Owns a host that ends in the way its argument says; it prints the pid of its child first. */
import { spawn } from 'node:child_process'
import type { Child } from '@sluice/base'
import { nodeWorld } from '../src/index.ts'
import { Reaper } from '../src/reaper.ts'

const { processes } = nodeWorld()
const env = { PATH: process.env['PATH'] ?? '' }
const ways: Readonly<Record<string, () => Promise<void>>> = {
  async exit() {
    console.log((await start('echo $$; exec sleep 100')).line)
    process.exit(0)
  },
  async wait() {
    console.log((await start('echo $$; exec sleep 100')).line)
  },
  async owned() {
    // The second one has left the group, and waits for nobody.
    console.log((await start('setsid sleep 100 & echo $! $$; exec sleep 100', 'somebody')).line)
  },
  async reused() {
    // Not a child of the World: it stands for a stranger that got the pid of a child which is gone.
    const [stranger, own] = [1, 2].map(() => spawn('sleep', ['100'], { detached: true, stdio: 'ignore' }).pid ?? 0)
    const reaper = new Reaper()
    reaper.start()
    const startedAt = processes.startTimeOf(own ?? 0)
    reaper.tell([{ pid: stranger, startedAt: 'boot/1' } as Child, { pid: own, startedAt } as Child])
    console.log(`${own} ${stranger}`)
  },
  async decide() {
    process.on('SIGTERM', () => console.log('decided'))
    const { child, line } = await start('trap "exit 7" TERM; echo $$; while :; do sleep 0.01; done')
    console.log(line)
    console.log(JSON.stringify(await child.exited))
  },
  async detach() {
    const { child, line } = await start('sleep 100 & echo $!')
    await child.exited
    child.detachOutput()
    console.log(line)
  },
}

/** Resolves when the script has printed its first line. */
async function start(script: string, owner?: string) {
  let text = ''
  let printed!: (line: string) => void
  const line = new Promise<string>((resolve) => (printed = resolve))
  const onStdout = (bytes: Uint8Array) => {
    text += new TextDecoder().decode(bytes)
    if (text.includes('\n')) printed(text.trim())
  }
  const listen = { onStdout, onStderr: () => {} }
  const named = owner === undefined ? {} : { owner }
  const child = await processes.spawn({ file: 'sh', args: ['-c', script], cwd: '/', env, ...listen, ...named })
  return { child, line: await line }
}

await ways[process.argv[2] ?? '']?.()
