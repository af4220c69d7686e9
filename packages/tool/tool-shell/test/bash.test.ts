import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { turn } from '@sluice/testkit'
import { COMMAND_CHARS_MAX } from '@sluice/tool-shell'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Bench, makeBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await makeBench()
})
afterEach(() => bench.close())

/** Pids that a command wrote into a file, one a line. */
async function pids(file: string): Promise<number[]> {
  const text = await readFile(join(bench.cwd, file), 'utf8')
  return text.trim().split('\n').map(Number)
}

async function expectDead(file: string): Promise<void> {
  const all = await pids(file)
  expect(all.length).toBeGreaterThan(0)
  expect(all.filter((pid) => bench.world.processes.isAlive(pid))).toEqual([])
}

test('a command runs in the working folder of the session and returns what it printed', async () => {
  const { text, value, outcome } = await bench.bash('pwd; echo to stderr >&2')
  expect(outcome).toMatchObject({ tag: 'succeeded', executed: 'yes' })
  expect(new Set(text.split('\n'))).toEqual(new Set([bench.cwd, 'to stderr']))
  expect(value).toMatchObject({ exitCode: 0, signal: null, ended: 'exited', survivors: 'none', omitted: 0 })
  expect(value.durationMs).toSatisfy(Number.isInteger)
})

test('an exit code and a signal are data and are told', async () => {
  const failed = await bench.bash('echo no; exit 3')
  expect(failed.value).toMatchObject({ exitCode: 3, signal: null })
  expect(failed.text).toBe('no\n[exit code 3]')
  const killed = await bench.bash('kill -9 $$')
  expect(killed.value).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
  expect(killed.text).toBe('[ended by SIGKILL]')
  expect((await bench.bash('true')).text).toBe('(no output)')
})

test('an exit code over 128 is told with the signal that it may stand for', async () => {
  expect((await bench.bash('bash -c "kill -9 \\$\\$"; exit $?')).text).toMatch(/\[exit code 137, as after SIGKILL\]$/)
  expect((await bench.bash('exit 130')).text).toBe('[exit code 130, as after SIGINT]')
  expect((await bench.bash('exit 200')).text).toBe('[exit code 200]')
})

test('the call and its result show a terminal', async () => {
  const { settled } = await bench.bash({ command: 'echo hi; exit 1', description: 'Says hi' })
  const call = bench.session.events.find((event) => event.type === 'tool/call')
  expect(call?.data).toMatchObject({
    readOnly: false,
    card: { v: 1, kind: 'terminal', title: 'Says hi', command: 'echo hi; exit 1' },
  })
  expect(settled.data.card).toEqual({
    v: 1,
    kind: 'terminal',
    title: 'Says hi',
    command: 'echo hi; exit 1',
    output: 'hi\n',
    exitCode: 1,
  })
})

test('the card of long output begins with a whole line, or shows the end of a line that is too long', async () => {
  const cardOf = async (command: string) => (await bench.bash(command)).settled.data.card as { output?: string }
  const { output = '' } = await cardOf('seq 10000 11000')
  expect(output).toMatch(/^\d{5}\n/)
  expect(output.length).toBeGreaterThan(1_990)
  expect((await cardOf("printf '%03000d\\n' 7")).output).toMatch(/^0{1998}7\n$/)
})

test('a command may start with a dash, and nothing waits for input', async () => {
  const { text } = await bench.bash('-x 2>&1; cat; read line; echo "read: $?"')
  expect(text).toContain('-x: command not found\nread: 1')
})

test('what the model reads of bash is this', () => {
  const info = bench.ctx.tools.visible().find(({ name }) => name === 'bash')
  expect(info?.description).toMatchInlineSnapshot(
    `"Runs a command with bash in the working folder and returns what it printed, with its exit code if that is not 0. Each call is a new shell: a changed folder, variables and functions do not last. Nothing can be typed in. A command that takes longer than 120000 ms is ended; timeoutMs raises that up to 600000 ms. With background the command goes on after the call, which returns the id of a job for bash_output and bash_kill; use it for servers and watchers. Other processes left in the background are ended with the command. Long output keeps its beginning and its end. For reading, writing and searching files use the tools for that."`,
  )
  expect(info?.parameters).toMatchInlineSnapshot(`
    {
      "properties": {
        "background": {
          "description": "Go on after the call. The job is ended with the session.",
          "type": "boolean",
        },
        "command": {
          "description": "The command, as typed in bash.",
          "maxLength": 100000,
          "minLength": 1,
          "pattern": "^[^\\u0000]*$",
          "type": "string",
        },
        "description": {
          "description": "What the command does, in a few words, for the person who watches.",
          "type": "string",
        },
        "hosts": {
          "description": "Hosts that the command must reach and the sandbox keeps from it, to ask a person for.",
          "items": {
            "description": "Such as example.org, *.example.org or example.org:443.",
            "pattern": "^(\\*\\.)?[A-Za-z0-9.\\-\\[\\]:]{1,253}$",
            "type": "string",
          },
          "maxItems": 10,
          "minItems": 1,
          "type": "array",
        },
        "timeoutMs": {
          "description": "Time limit in milliseconds. A background job has none unless this is given.",
          "maximum": 600000,
          "minimum": 1,
          "type": "integer",
        },
        "unconfined": {
          "description": "Ask a person to run the command outside of the sandbox. Only for what cannot be done inside.",
          "type": "boolean",
        },
      },
      "required": [
        "command",
      ],
      "type": "object",
    }
  `)
  expect(info).toMatchObject({
    aliases: ['Bash'],
    annotations: { destructive: true, openWorld: true },
    overlap: 'exclusive',
  })
})

// BUG-059
test.each([
  ['a silent background process', 'sleep 1000 & echo $! > pids; echo done'],
  ['a background process that prints', '(while :; do echo x; sleep 0.01; done) & echo $! > pids; echo done'],
  ['a background pipeline', 'sleep 1000 2>&1 | cat & echo $! > pids; echo done'],
  ['a background process without pipes', 'nohup sleep 1000 > /dev/null 2>&1 & echo $! > pids; echo done'],
])('%s does not hold the result, is ended and is told of', async (_, command) => {
  const { text, value } = await bench.bash(`${command}; exit 4`)
  expect(value).toMatchObject({ exitCode: 4, ended: 'exited', survivors: 'ended' })
  expect(text).toMatch(/^(x\n)*done\n(x\n)*\[exit code 4\]\n\[processes that were still running/)
  await expectDead('pids')
})

// BUG-061
const stubborn =
  'trap "" TERM; (while :; do echo $BASHPID >> pids; sleep 0.01; done) & echo $$ >> pids; echo ready; wait'

// BUG-061
test('a time limit ends the whole group, also processes that ignore TERM, and keeps the output', async () => {
  const { text, value, outcome } = await bench.bash({ command: stubborn, timeoutMs: 300 })
  expect(outcome.tag).toBe('succeeded')
  expect(value).toMatchObject({ ended: 'timed-out', exitCode: null, signal: 'SIGKILL', survivors: 'ended' })
  expect(text).toMatch(/^ready\n\[timed out: the command was ended after \d+ ms, with all its processes\]$/)
  await expectDead('pids')
  const before = await pids('pids')
  await bench.bash('true')
  expect(await pids('pids')).toEqual(before)
})

// BUG-061
test('an abort ends the whole group in the same way, and is told apart from a time limit', async () => {
  const controller = new AbortController()
  const { text, value } = await bench.bash(stubborn, {
    signal: controller.signal,
    onProgress: () => controller.abort(new Error('stop')),
  })
  expect(value).toMatchObject({ ended: 'aborted', survivors: 'ended' })
  expect(text).toMatch(/^ready\n\[aborted: the command was ended after \d+ ms, with all its processes\]$/)
  await expectDead('pids')
  expect(bench.session.events.filter((event) => event.type === 'tool/result')).toHaveLength(1)
})

// BUG-061
test('a command that is asked to end may still say something', async () => {
  const { text, value } = await bench.bash({
    command: 'trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.01; done',
    timeoutMs: 300,
  })
  expect(value).toMatchObject({ ended: 'timed-out', exitCode: 7 })
  expect(text).toMatch(/^ready\n(Terminated\n)?bye\n\[timed out/)
})

// files.md 12
describe.runIf(process.platform === 'linux')('a process that left the group', () => {
  /** Leaves no process behind that waits for it to be gone. */
  const strayed =
    'setsid bash -c \'echo $$ >> pids; trap "" TERM; sleep 1000 & echo $! >> pids; wait\' & until [ -e pids ]; do sleep 0.01; done'

  test('neither holds the result nor keeps the host alive, is ended and is told of', async () => {
    const pipes = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length
    const before = pipes()
    const { text, value } = await bench.bash(`${strayed}; echo done`)
    expect(value).toMatchObject({ exitCode: 0, ended: 'exited', survivors: 'ended' })
    expect(text).toMatch(/^done\n\[processes that were still running/)
    await expectDead('pids')
    expect(pipes()).toBe(before)
  })

  test('ends with the command at a time limit and at an abort', async () => {
    const limited = await bench.bash({ command: `${strayed}; echo ready; sleep 1000`, timeoutMs: 500 })
    expect(limited.value).toMatchObject({ ended: 'timed-out', survivors: 'ended' })
    await expectDead('pids')
    await rm(join(bench.cwd, 'pids'))
    const controller = new AbortController()
    const onProgress = () => controller.abort(new Error('stop'))
    const aborted = await bench.bash(`${strayed}; echo ready; sleep 1000`, { signal: controller.signal, onProgress })
    expect(aborted.value).toMatchObject({ ended: 'aborted', survivors: 'ended' })
    await expectDead('pids')
  })

  test('ends with its session where it belongs to a job, and leaves those of other jobs', async () => {
    await bench.bash({ command: `${strayed}; mv pids job; sleep 1000`, background: true })
    while (!existsSync(join(bench.cwd, 'job'))) await turn()
    expect((await bench.bash('true')).value).toMatchObject({ survivors: 'none' })
    const alive = async () => (await pids('job')).filter((pid) => bench.world.processes.isAlive(pid)).length
    expect(await alive()).toBeGreaterThan(0)
    await bench.session.close()
    await expectDead('job')
  })

  test('counts as of a crowd', async () => {
    await bench.close()
    bench = await makeBench({ config: { processesMax: 90 } })
    const crowd = 'for i in {1..100}; do setsid sleep 1000 & echo $! >> all; done; echo all; sleep 1000'
    expect((await bench.bash(crowd)).value).toMatchObject({ ended: 'crowded', survivors: 'ended' })
    await expectDead('all')
  })
})

// BUG-061
test('a pipeline that never ends is ended by its limit', async () => {
  const { value } = await bench.bash({ command: 'yes | sleep 1000', timeoutMs: 100 })
  expect(value).toMatchObject({ ended: 'timed-out', survivors: 'ended' })
})

test('a deadline of another plugin counts as a time limit', async () => {
  await bench.ctx.plugin({
    name: 'deadline',
    inject: ['tools'],
    apply(ctx) {
      ctx.on('tools/execute', (_, run, next) => {
        run.deadline(100)
        return next()
      })
    },
  })
  expect((await bench.bash('echo a; sleep 1000')).value).toMatchObject({ ended: 'timed-out', output: 'a\n' })
})

test('a command with too many processes is ended with all of them', async () => {
  await bench.close()
  bench = await makeBench({ config: { processesMax: 90 } })
  // No more than 127 processes, so that without the limit the machine stays usable.
  const tree =
    'f() { echo $BASHPID >> all; if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; sleep 1000 & wait; }; f 6'
  const { text, value } = await bench.bash(`trap "" TERM; ${tree}`)
  expect(value).toMatchObject({ ended: 'crowded', survivors: 'ended', signal: 'SIGKILL' })
  expect(text).toMatch(/(^|\n)\[too many processes: the command was ended after \d+ ms, with all its processes\]$/)
  await expectDead('all')
})

test('commands get the variables that are named, and none of the host beyond them', async () => {
  await bench.close()
  bench = await makeBench({
    env: {
      HOME: '/home/user',
      LC_ALL: 'C.UTF-8',
      API_KEY: 'secret',
      AWS_TOKEN: 'secret',
      BASH_ENV: '/evil',
      MINE: 'm',
    },
    config: { passEnv: ['MINE'], setEnv: { TEAM: 'blue' } },
  })
  const { text } = await bench.bash('env | sort')
  const names = text.split('\n').map((line) => line.split('=')[0])
  expect(text).not.toContain('secret')
  // session-log.md 4.4: by this a command is found when its host has died.
  expect(text).toContain(`/${bench.session.id}\nTEAM=blue`)
  expect(names).toEqual([
    'GIT_PAGER',
    'GIT_TERMINAL_PROMPT',
    'HOME',
    'LC_ALL',
    'MINE',
    'NO_COLOR',
    'PAGER',
    'PATH',
    'PWD',
    'SHLVL',
    'SLUICE_OWNER',
    'TEAM',
    'TERM',
    '_',
  ])
})

test('a command that cannot start says why, and nothing ran', async () => {
  await rm(bench.cwd, { recursive: true })
  const gone = await bench.bash('true')
  expect(gone.outcome).toMatchObject({ tag: 'failed', code: 'SHELL_NOT_STARTED' })
  expect(gone.text).toContain(`The command did not run: bash cannot be started in ${bench.cwd}: ENOENT`)
  await bench.close()
  bench = await makeBench({ config: { shell: 'no-such-shell' } })
  expect((await bench.bash('true')).outcome).toMatchObject({ tag: 'failed', code: 'SHELL_NOT_STARTED' })
})

test.each([
  ['empty', ''],
  ['too long', 'x'.repeat(COMMAND_CHARS_MAX + 1)],
  ['holding a zero byte', 'echo a\u0000b'],
])('a command that is %s is refused before anything runs', async (_, command) => {
  expect((await bench.bash(command)).outcome).toMatchObject({ tag: 'invalid', executed: 'no' })
})

test('a limit beyond the longest one is refused', async () => {
  expect((await bench.bash({ command: 'true', timeoutMs: 600_001 })).outcome).toMatchObject({ tag: 'invalid' })
})

test('commands of one message run one after another', async () => {
  const calls = ['sleep 0.1; echo one >> log', 'echo two >> log', 'echo three >> log'].map((command, index) => ({
    id: `b${index}`,
    tool: 'bash',
    arguments: { command },
  }))
  await bench.ctx.tools.batch({ session: bench.session, calls })
  expect(await readFile(join(bench.cwd, 'log'), 'utf8')).toBe('one\ntwo\nthree\n')
})

test('unloading the plugin ends its commands and takes the tools away', async () => {
  let ready = () => {}
  const started = new Promise<void>((resolve) => (ready = resolve))
  const command = 'trap "" TERM; echo $$ > pids; echo ready; while :; do sleep 0.01; done'
  const running = bench.bash(command, { onProgress: () => ready() })
  await started
  await bench.fiber.dispose()
  await expectDead('pids')
  await running
  expect(bench.ctx.tools.visible()).toEqual([])
  expect((await bench.bash('true')).outcome).toMatchObject({ tag: 'unknown-tool' })
})
