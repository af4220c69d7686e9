import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AdapterState } from '@sluice/sandbox'
import { confinedTo, type SandboxSubject, sandboxContract } from '@sluice/sandbox/contract'
import { runContract } from '@sluice/testkit'
import { nodeWorld } from '@sluice/world-node'
import { afterAll, describe, expect, it, onTestFinished, test } from 'vitest'
import { Config } from '../src/index.ts'
import { findProgram } from '../src/programs.ts'
import { adapterOn } from './adapter.ts'

const SECRET = 'a-secret-of-the-host'
process.env['SLUICE_TEST_SECRET'] = SECRET

const world = nodeWorld()
const { adapter, dispose } = await adapterOn(world)
const checked = await adapter.check()
const hasRelay = await findProgram(world.disk, 'socat', Config({}).programFolders)
const state: AdapterState =
  checked.available && !hasRelay ? { available: false, why: 'socat is not installed', remedy: '' } : checked

const ends = new WeakMap<SandboxSubject, () => Promise<void>>()

async function subject(): Promise<SandboxSubject> {
  // Not below the folder for temporary files, which is another one inside.
  const folder = await mkdtemp('/var/tmp/sluice-sandbox-')
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end('hello')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const program = fileURLToPath(new URL('host.program.ts', import.meta.url))
  const made: SandboxSubject = {
    adapter,
    world,
    folder,
    peer: { port: (server.address() as AddressInfo).port, asked },
    secret: SECRET,
    host: ['env', `TMPDIR=${folder}`, process.execPath, '--import', import.meta.resolve('tsx'), program],
  }
  ends.set(made, async () => {
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  return made
}

afterAll(async () => {
  delete process.env['SLUICE_TEST_SECRET']
  await dispose()
  world.dispose()
})

if (state.available) {
  runContract(
    sandboxContract,
    subject,
    { it, describe },
    { title: 'bubblewrap', dispose: (each) => ends.get(each)?.() },
  )
  test('the proxy of a process ends with it', async () => {
    const tempDir = await mkdtemp('/var/tmp/sluice-passage-')
    onTestFinished(() => rm(tempDir, { recursive: true, force: true }))
    const own = await adapterOn({ ...world, host: { ...world.host, tempDir } })
    const sockets = async () => {
      const [root = ''] = await readdir(tempDir)
      return (await readdir(join(tempDir, root))).filter((name) => name.startsWith('network'))
    }
    const options = { file: 'sleep', args: ['1000'], cwd: '/var/tmp', env: { PATH: '/usr/bin:/bin' } }
    const child = await own.adapter.spawn(options, confinedTo('/var/tmp', { access: 'read', hosts: ['example.org'] }))
    expect(await sockets()).toHaveLength(1)
    child.killGroup('SIGKILL')
    await child.exited
    expect(await sockets()).toEqual([])
    await own.dispose()
  })
} else {
  // Told as a line of its own by scripts/check.mjs.
  test(`confinement was not tried: ${state.why}`, async () => {
    expect(state).toMatchObject({
      why: expect.stringMatching(/bubblewrap/) as string,
      remedy: expect.any(String) as string,
    })
  })
}
