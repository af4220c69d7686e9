/** Owns a host that ends in the way its argument says; it prints the pid of its child first. */
import { nodeWorld } from '../src/index.ts'

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
async function start(script: string) {
  let text = ''
  let printed!: (line: string) => void
  const line = new Promise<string>((resolve) => (printed = resolve))
  const onStdout = (bytes: Uint8Array) => {
    text += new TextDecoder().decode(bytes)
    if (text.includes('\n')) printed(text.trim())
  }
  const child = await processes.spawn({ file: 'sh', args: ['-c', script], cwd: '/', env, onStdout, onStderr: () => {} })
  return { child, line: await line }
}

await ways[process.argv[2] ?? '']?.()
