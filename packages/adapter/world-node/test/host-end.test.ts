import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { turn } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { nodeWorld } from '../src/index.ts'

const { processes } = nodeWorld()
const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
const program = fileURLToPath(new URL('host.program.ts', import.meta.url))

interface Started {
  readonly host: ChildProcess
  /** Of the child that it has started. */
  readonly pid: number
  readonly first: string
  readonly lines: AsyncIterator<string>
}

async function host(way: string): Promise<Started> {
  const started = spawn(process.execPath, ['--import', loader, program, way], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]()
  const { value: first } = (await lines.next()) as { value: string }
  return { host: started, pid: Number(first), first, lines }
}

async function endOf(started: ChildProcess): Promise<unknown> {
  if (started.exitCode !== null || started.signalCode !== null) return started.exitCode ?? started.signalCode
  const [code, signal] = (await once(started, 'exit')) as [number | null, string | null]
  return code ?? signal
}

async function gone(pid: number): Promise<void> {
  while (processes.isAlive(pid)) await turn()
}

// Each host is a Node of its own, which takes seconds to start on a busy machine.
describe.skipIf(process.platform === 'win32')('when the host ends', { timeout: 60_000 }, () => {
  it('its children end with it', async () => {
    const { host: ending, pid } = await host('exit')
    expect(await endOf(ending)).toBe(0)
    await gone(pid)
  })

  it('by a signal that nobody listens to, it ends by that signal and its children with it', async () => {
    const endBy = async (signal: NodeJS.Signals) => {
      const { host: ending, pid } = await host('wait')
      ending.kill(signal)
      expect(await endOf(ending)).toBe(signal)
      await gone(pid)
    }
    await Promise.all((['SIGTERM', 'SIGINT', 'SIGHUP'] as const).map(endBy))
  })

  // session-log.md 4.4
  it.runIf(process.platform === 'linux')(
    'by a kill that nobody can see coming, its children end with it, those that left their group too',
    async () => {
      const [plain, owned] = await Promise.all([host('wait'), host('owned')])
      for (const { host: killed } of [plain, owned]) killed.kill('SIGKILL')
      await Promise.all([plain.pid, ...owned.first.split(' ').map(Number)].map(gone))
    },
  )

  it.runIf(process.platform === 'linux')('a stranger that got the pid of a child is left alone', async () => {
    const { host: killed, first } = await host('reused')
    const [own = 0, stranger = 0] = first.split(' ').map(Number)
    killed.kill('SIGKILL')
    await gone(own)
    expect(processes.isAlive(stranger)).toBe(true)
    processes.killGroup(stranger, 'SIGKILL')
  })

  it('is for whoever listens to the signal to decide', async () => {
    const { host: deciding, pid, lines } = await host('decide')
    deciding.kill('SIGTERM')
    expect((await lines.next()).value).toBe('decided')
    processes.killGroup(pid, 'SIGTERM')
    expect((await lines.next()).value).toBe('{"code":7,"signal":null}')
    expect(await endOf(deciding)).toBe(0)
  })

  it('a background process whose output was detached neither keeps it nor outlives it', async () => {
    const { host: ending, pid } = await host('detach')
    expect(await endOf(ending)).toBe(0)
    await gone(pid)
  })
})
