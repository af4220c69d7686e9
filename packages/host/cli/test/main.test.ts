import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERSION } from '../src/version.ts'

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
      { cwd: folder, env: environment(env), timeout: 20_000 },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

describe('the sluice program', () => {
  test('--help and --version import no plugin', async () => {
    for (const flag of ['--help', '--version', 'run --help']) {
      const record = join(folder, `modules${flag.replaceAll(/\W/g, '')}`)
      const { code } = await sluice(flag.split(' '), { RECORD_MODULES: record }, ['--import', recorder])
      expect(code).toBe(0)
      const modules = (await readFile(record, 'utf8')).split('\n').filter((url) => url.startsWith('file:'))
      const own = modules.filter((url) => url.includes('/packages/')).map((url) => url.slice(url.indexOf('/packages/')))
      expect(own.filter((url) => !url.startsWith('/packages/host/cli/src/'))).toEqual([])
      expect(modules.filter((url) => url.includes('cordis'))).toEqual([])
    }
  })

  test('--help names commands and exit codes; --version is that of the package', async () => {
    const help = await sluice(['--help'])
    expect(help.stdout).toContain('Exit codes: 0 done, 1 failed, 2 usage, 3 ended with denied calls, 130 interrupted.')
    for (const word of ['run', 'session']) expect(help.stdout).toContain(word)
    const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    expect(VERSION).toBe(manifest.version)
    expect(await sluice(['--version'])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' })
  })

  test('an unknown command or option is a usage error', async () => {
    expect(await sluice(['fly'])).toMatchObject({ code: 2, stderr: "error: unknown command 'fly'\n" })
    expect((await sluice(['run', '--fly', 'x'])).code).toBe(2)
    expect((await sluice([])).code).toBe(2)
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
