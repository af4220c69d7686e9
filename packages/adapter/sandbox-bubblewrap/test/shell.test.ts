import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as sandbox from '@sluice/sandbox'
import * as bubblewrap from '@sluice/sandbox-bubblewrap'
import * as session from '@sluice/session'
import { memoryStorePlugin } from '@sluice/session'
import { worldPlugin } from '@sluice/testkit'
import * as shell from '@sluice/tool-shell'
import type { CommandResult } from '@sluice/tool-shell'
import * as tools from '@sluice/tools'
import { nodeWorld } from '@sluice/world-node'
import { Context } from 'cordis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const world = nodeWorld()
const ctx = new Context()
await ctx.plugin(worldPlugin(world))
for (const plugin of [memoryStorePlugin, session]) await ctx.plugin(plugin)
await ctx.plugin(tools, { otherwise: 'allow' })
await ctx.plugin(sandbox)
await ctx.plugin(bubblewrap)
await ctx.plugin(shell, { processesMax: 60 })
const { kind } = await ctx.sandbox.status()

let cwd = ''
let own: session.Session
beforeAll(async () => {
  // Not below the folder for temporary files, which is another one inside.
  cwd = await mkdtemp('/var/tmp/sluice-shell-')
  own = await ctx.sessions.create({ cwd })
})
afterAll(async () => {
  await ctx.fiber.dispose()
  world.dispose()
  await rm(cwd, { recursive: true, force: true })
})

let count = 0
async function call(tool: string, args: object, signal?: AbortSignal) {
  const request = { id: `c${++count}`, tool, arguments: args as never }
  const { result } = await ctx.tools.execute({ session: own, call: request, ...(signal && { signal }) })
  const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return { text, value: result.value as unknown as CommandResult & { job: string } }
}
const bash = (command: string, more: object = {}) => call('bash', { command, ...more })

/** Without bubblewrap contract.test.ts tells that confinement was not tried. */
describe.runIf(kind === 'confined')('bash in the sandbox', () => {
  test('what it is kept from is told with how to ask for more', async () => {
    const { text, value } = await bash('echo a > in; echo x > ../out')
    expect(value).toMatchObject({ exitCode: 1, signal: null })
    expect(text).toContain('Read-only file system')
    expect(text).toContain('ask for more with hosts or unconfined')
    expect(await readFile(join(cwd, 'in'), 'utf8')).toBe('a\n')
  })

  test('files that grant authority, however many a command makes, keep no later one from starting', async () => {
    const at = await mkdtemp('/var/tmp/sluice-many-')
    const crowded = await ctx.sessions.create({ cwd: at })
    const run = async (command: string) => {
      const request = { id: `c${++count}`, tool: 'bash', arguments: { command } }
      return (await ctx.tools.execute({ session: crowded, call: request })).result
    }
    const made = await run('mkdir -p .git/worktrees/{1..1500}; mkdir -p $(seq -s/ 600)/.git')
    expect(made.value).toMatchObject({ exitCode: 0, authority: { cut: true } })
    expect((await run('touch .git/hooks/x || echo kept')).value).toMatchObject({
      output: expect.stringContaining('kept') as string,
    })
    await rm(at, { recursive: true })
  })

  // files.md 10
  test('hooks that a command makes deep in the workspace, and a link that it puts in place of another, are told, and later commands only read them', async () => {
    await symlink('shared', join(cwd, '.claude'))
    const first = await bash('mkdir -p a/b/c/d/e/.git/hooks && ln -sfn other .claude')
    expect(first.value.authority?.paths.toSorted()).toEqual([`${cwd}/.claude -> other`, `${cwd}/a/b/c/d/e/.git`])
    expect(first.text).toContain(`${cwd}/a/b/c/d/e/.git`)
    const { value } = await bash('echo x > a/b/c/d/e/.git/hooks/pre-commit')
    expect(value).toMatchObject({ exitCode: 1 })
    expect(value.authority).toBeUndefined()
  })

  test('a command has users, processes, network and shared memory of its own', async () => {
    const look = 'cd /proc/self/ns; for each in user pid net ipc mnt; do readlink $each; done'
    const inside = (await bash(look)).value.output.trim().split('\n')
    let text = ''
    const env = { PATH: '/usr/bin:/bin' }
    const onStdout = (bytes: Uint8Array) => void (text += new TextDecoder().decode(bytes))
    await (await world.processes.spawn({ file: 'bash', args: ['-c', look], cwd: '/', env, onStdout })).closed
    const outside = text.trim().split('\n')
    expect(inside.length).toBe(5)
    expect(inside.filter((name) => outside.includes(name))).toEqual([])
  })

  test('a signal is told as one where the shell inside tells it from an exit code', async () => {
    let words = ''
    const onStderr = (bytes: Uint8Array) => void (words += new TextDecoder().decode(bytes))
    const args = ['-c', '(exec bash -c "kill -SEGV \\$\\$"); exit 0']
    const env = { PATH: '/usr/bin:/bin' }
    await (await world.processes.spawn({ file: '/bin/sh', args, cwd: '/', env, onStderr })).closed
    const told = words === '' ? { exitCode: 139, signal: null } : { exitCode: null, signal: 'SIGSEGV' }
    const { text, value } = await bash('kill -SEGV $$')
    expect([value, text]).toMatchObject([
      { ...told, output: '' },
      words === '' ? '[exit code 139, as after SIGSEGV]' : '[ended by SIGSEGV]',
    ])
    expect((await bash('exit 139')).text).toBe('[exit code 139, as after SIGSEGV]')
  })

  // BUG-059
  test.each([
    'sleep 1000 & echo done',
    'setsid sleep 1000 & echo done',
    '(while :; do echo x; sleep 0.01; done) & echo done',
    'sleep 1000 2>&1 | cat & echo done',
  ])('what is left in the background is ended with the command and is told of: %s', async (command) => {
    const { text, value } = await bash(`${command}; exit 4`)
    expect(value).toMatchObject({ exitCode: 4, ended: 'exited', survivors: 'ended' })
    expect(text).toMatch(/^(x\n)*done\n[^]*processes that were still running in the background were ended/)
  })

  // BUG-061
  test('a time limit ends everything, also what ignores TERM and what left the group', async () => {
    const left = `setsid bash -c 'trap "" TERM; exec 7>pipe; echo here >&7; exec sleep 1000' &`
    const reader = await world.processes.spawn({
      file: 'bash',
      args: ['-c', 'mkfifo pipe && exec cat pipe'],
      cwd,
      env: { PATH: '/usr/bin:/bin' },
    })
    const command = `until [ -p pipe ]; do :; done; trap "" TERM; ${left} echo kept; wait`
    const { text, value } = await bash(command, { timeoutMs: 300 })
    expect(value).toMatchObject({ ended: 'timed-out', survivors: 'ended' })
    expect(text).toMatch(/^kept\n\[timed out/)
    await reader.exited
  })

  // BUG-061
  test('a bomb of processes that ignore TERM and ever make new ones is ended when it has too many, with all of them', async () => {
    const reader = await world.processes.spawn({
      file: 'bash',
      args: ['-c', 'mkfifo bomb && exec cat bomb'],
      cwd,
      env: { PATH: '/usr/bin:/bin' },
    })
    // No more than 127 and as many that end at once, so that without the limit the machine stays usable.
    const tree = 'f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; while :; do (:) & wait $!; done; }; f 6'
    const { text, value } = await bash(`until [ -p bomb ]; do :; done; exec 7>bomb; trap "" TERM; ${tree}`)
    expect(value).toMatchObject({ ended: 'crowded', survivors: 'ended', signal: 'SIGKILL' })
    // While they are ended some of them may say that they cannot make more.
    expect(text).toMatch(/(^|\n)\[too many processes: the command was ended after \d+ ms, with all its processes\]$/)
    await reader.exited
  })

  // BUG-061
  test('a command that is ended may tidy up first', async () => {
    const { value } = await bash('trap "echo tidied; exit 5" TERM; while :; do sleep 0.01; done', { timeoutMs: 200 })
    expect(value).toMatchObject({ ended: 'timed-out', exitCode: 5 })
    expect(value.output).toMatch(/tidied\n$/)
  })

  // BUG-062
  test('a flood is bounded, and the exit code is right', async () => {
    const { value } = await bash('yes | head -c 50000000; exit 3')
    expect(value).toMatchObject({ exitCode: 3, ended: 'exited' })
    expect(value.omitted).toBeGreaterThan(49_000_000)
  })

  // BUG-063
  test('characters arrive whole', async () => {
    const { value } = await bash(`printf '\\xe2'; sleep 0.01; printf '\\x89\\xa4'; printf '\\xe2' >&2`)
    expect(value.output).toBe('≤\ufffd')
  })

  test('a job goes on in the sandbox after its call, and ends when it is told to', async () => {
    await writeFile(join(cwd, 'serve.sh'), 'echo up; echo x > ../out; exec sleep 1000')
    const { job } = (await bash('bash serve.sh', { background: true })).value
    const { text } = await call('bash_kill', { job })
    expect(text).toContain('[aborted: the command was ended')
    expect(await world.disk.stat('/var/tmp/out').catch(() => 'none')).toBe('none')
  })
})
