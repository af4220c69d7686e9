import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodeWorld } from '@sluice/world-node'
import { runCli } from '../src/cli.ts'
import { VERSION } from '../src/version.ts'
import { watchedTerminal } from './harness.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const recorder = fileURLToPath(new URL('fixtures/record-modules.mjs', import.meta.url))
const tsx = import.meta.resolve('tsx')

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-main-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function environment(env: Record<string, string> = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_DATA_HOME: join(folder, 'data'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    ...env,
  }
}

function sluice(
  argv: readonly string[],
  env: Record<string, string> = {},
  node: readonly string[] = [],
): Promise<Ended> {
  return new Promise((resolve) => {
    const args = [...node, '--import', tsx, main, ...argv]
    const child = execFile(
      process.execPath,
      args,
      { cwd: folder, env: environment(env), timeout: 100_000 },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

/** What \`sluice session show\` prints of a session that another process has written. */
async function shown(id: string): Promise<string> {
  const world = nodeWorld()
  const t = watchedTerminal(folder)
  const parts = { world: { ...world, host: { ...world.host, env: environment() } } }
  expect(await runCli(['session', 'show', id], t, parts)).toBe(0)
  return t.out
}

// Each of these starts real processes, which takes long on a busy machine.
describe('the sluice program', { timeout: 120_000 }, () => {
  async function recorded(flag: string) {
    const record = join(folder, `modules${flag}`)
    const ended = await sluice([flag], { RECORD_MODULES: record }, ['--import', recorder])
    const modules = (await readFile(record, 'utf8')).split('\n').filter((url) => url.startsWith('file:'))
    return { ...ended, modules }
  }

  test('--help and --version import no plugin', async () => {
    for (const flag of ['--help', '--version']) {
      const { modules, stdout, code } = await recorded(flag)
      expect(code).toBe(0)
      const own = modules.filter((url) => url.includes('/packages/')).map((url) => url.slice(url.indexOf('/packages/')))
      expect(own).toContain('/packages/host/cli/src/cli.ts')
      expect(own.filter((url) => !url.startsWith('/packages/host/cli/src/'))).toEqual([])
      expect(modules.filter((url) => url.includes('cordis'))).toEqual([])
      expect(stdout).toContain(flag === '--version' ? `${VERSION}\n` : 'run [options] [task]')
    }
  })

  test('the version is that of the package, and help names the exit codes', async () => {
    const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    expect(VERSION).toBe(manifest.version)
    const t = watchedTerminal(folder)
    expect(await runCli(['--help'], t)).toBe(0)
    expect(t.out).toContain(
      'Exit codes: 0 done, 1 failed or something is wrong, 2 usage, 3 ended with denied calls, 130 interrupted.',
    )
  })

  test('an unknown command or option, and no command, are usage errors', async () => {
    expect(await sluice(['fly'])).toMatchObject({ code: 2, stderr: "error: unknown command 'fly'\n" })
    for (const argv of [['run', '--fly', 'x'], ['session', 'show'], []]) {
      const t = watchedTerminal(folder)
      expect(await runCli(argv, t)).toBe(2)
      expect(t.out).toBe('')
    }
  })

  test('a task runs with the default composition against a real endpoint, and its session can be shown', async () => {
    const mock = new LLMock({ port: 0 })
    mock.on({ hasToolResult: true }, (request) => ({
      content: `It says: ${String(request.messages.at(-1)?.content).includes('forty-two') ? '42' : '?'}.`,
    }))
    mock.onMessage(/answer/, { content: 'I look.', toolCalls: [{ name: 'read', arguments: '{"path":"answer.txt"}' }] })
    await mock.start()
    await writeFile(join(folder, 'answer.txt'), 'forty-two\n')
    try {
      const env = { SLUICE_BASE_URL: `${mock.url}/v1`, SLUICE_API_KEY: 'secret-key-1', SLUICE_MODEL: 'any' }
      const ran = await sluice(['run', 'what is the answer?'], env)
      expect(ran).toMatchObject({ code: 0 })
      expect(ran.stdout).toMatch(/^I look\.\n▸ .*answer\.txt.*\n✔ .*answer\.txt/)
      expect(ran.stdout).toContain('It says: 42.')
      const id = /session (\S+)/.exec(ran.stderr)?.[1] ?? ''
      expect(await shown(id)).toContain('It says: 42.')
      const log = await readFile(join(folder, 'data', 'sluice', 'sessions', id, 'events.jsonl'), 'utf8')
      expect(log).not.toContain('secret-key-1')
    } finally {
      await mock.stop()
    }
  })

  test('SIGINT settles the turn, and the log of the session opens afterwards', async () => {
    const mock = new LLMock({ port: 0, latency: 30_000 })
    mock.onMessage(/./, { content: 'too late' })
    await mock.start()
    try {
      const env = { SLUICE_BASE_URL: `${mock.url}/v1`, SLUICE_MODEL: 'any' }
      const child = spawn(process.execPath, ['--import', tsx, main, 'run', '--json', 'wait'], {
        cwd: folder,
        env: environment(env),
      })
      let out = ''
      const exited = new Promise<number | null>((resolve) => child.on('exit', resolve))
      child.stdout.on('data', (chunk: Buffer) => {
        out += chunk.toString()
        if (out.includes('request/changed')) child.kill('SIGINT')
      })
      expect(await exited).toBe(130)
      const events = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string; data: { reason?: string; id?: string } })
      expect(events.at(-1)).toMatchObject({ type: 'turn/ended', data: { reason: 'aborted' } })
      expect(await shown(events[0]?.data.id ?? '')).toContain('> wait')
    } finally {
      await mock.stop()
    }
  })

  test('a reader that closes our output early ends the command quietly', async () => {
    const child = spawn(process.execPath, ['--import', tsx, main, '--help'], { cwd: folder, env: environment() })
    child.stdout.destroy()
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    await new Promise((resolve) => child.on('exit', resolve))
    expect(err).toBe('')
  })
})
