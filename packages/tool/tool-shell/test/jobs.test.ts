import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobReport } from '@sluice/tool-shell'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { JOBS_ENDED_MAX, JOBS_RUNNING_MAX } from '../src/jobs.ts'
import { type Bench, makeBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await makeBench()
})
afterEach(() => bench.close())

const WAIT = { waitMs: 10_000 }

async function start(command: string, more: Record<string, number> = {}): Promise<string> {
  const { value } = await bench.bash({ command, background: true, ...more })
  return (value as unknown as { job: string }).job
}

async function ask(tool: 'bash_output' | 'bash_kill', args: Record<string, string | number>) {
  const { value, ...rest } = await bench.call(tool, args)
  return { ...rest, value: value as unknown as JobReport }
}

async function pid(file = 'pid'): Promise<number> {
  return Number(await readFile(join(bench.cwd, file), 'utf8'))
}

/** A command that says when it runs and goes on until its file `go` is there. */
const untilGo = 'echo $$ > pid; echo ready; until [ -e go ]; do sleep 0.01; done; echo done; exit 3'

/** Resolves once the job has printed something; each look waits for the job, which a running one makes short. */
async function printed(job: string): Promise<string> {
  for (;;) {
    const { value } = await ask('bash_output', { job, waitMs: 20 })
    if (value.output !== '') return value.output
  }
}

test('a background command returns at once, and each look at it tells what is new, its state and its end', async () => {
  const { text, outcome } = await bench.bash({ command: untilGo, background: true })
  expect(outcome).toMatchObject({ tag: 'succeeded', executed: 'yes' })
  const job = /^\[running in the background as (job_\w+)\]$/.exec(text)?.[1] ?? ''
  expect(await printed(job)).toBe('ready\n')
  const running = await ask('bash_output', { job })
  expect(running.text).toMatch(new RegExp(`^\\[${job} still runs, since \\d+ ms\\]$`))
  await bench.bash('touch go')
  const ended = await ask('bash_output', { job, ...WAIT })
  expect(ended.text).toBe('done\n[exit code 3]')
  expect(ended.value.end).toMatchObject({ exitCode: 3, signal: null, ended: 'exited', survivors: 'none' })
  expect((await ask('bash_output', { job })).text).toBe('[exit code 3]')
})

test('a job that ends well says so', async () => {
  const job = await start('true')
  expect((await ask('bash_output', { job, ...WAIT })).text).toBe(`[${job} has ended with exit code 0]`)
})

test('a job has no time limit unless it is given one, and is not ended by the abort of its call', async () => {
  await bench.close()
  bench = await makeBench({ config: { defaultTimeoutMs: 1 } })
  const controller = new AbortController()
  const { value } = await bench.bash({ command: untilGo, background: true }, { signal: controller.signal })
  controller.abort()
  const { job } = value as unknown as { job: string }
  expect(await printed(job)).toBe('ready\n')
  expect((await ask('bash_output', { job })).value.end).toBeUndefined()
  const limited = await start('echo a; sleep 1000', { timeoutMs: 200 })
  const { value: end, text } = await ask('bash_output', { job: limited, ...WAIT })
  expect(end.end).toMatchObject({ ended: 'timed-out' })
  expect(text).toMatch(/^a\n\[timed out/)
})

test('bash_kill ends a job with all its processes, returns the rest of its output, and may be asked twice', async () => {
  const job = await start(`trap "" TERM; (echo $BASHPID > pid; echo ready; while :; do sleep 0.01; done) & wait`)
  expect(await printed(job)).toBe('ready\n')
  const { value, text } = await ask('bash_kill', { job })
  expect(value.end).toMatchObject({ ended: 'aborted', survivors: 'ended' })
  expect(text).toMatch(/^\[aborted: the command was ended after \d+ ms, with all its processes\]$/)
  expect(bench.world.processes.isAlive(await pid())).toBe(false)
  expect((await ask('bash_kill', { job })).value.end).toEqual(value.end)
})

test('closing the session ends its jobs and writes how they ended, and leaves those of other sessions', async () => {
  const job = await start(untilGo)
  await printed(job)
  const other = await bench.ctx.sessions.create({ cwd: bench.cwd })
  const foreign = await bench.call('bash', { command: 'sleep 1000', background: true }, { session: other })
  await bench.session.close()
  expect(bench.world.processes.isAlive(await pid())).toBe(false)
  const ended = bench.session.events.filter(({ type }) => type === 'shell/job-ended')
  expect(ended.map(({ data }) => data)).toEqual([
    expect.objectContaining({ job, callId: 'c1', command: untilGo, ended: 'aborted', survivors: 'ended' }),
  ])
  const { job: there } = foreign.value as unknown as { job: string }
  const report = await bench.call('bash_output', { job: there }, { session: other })
  expect((report.value as unknown as JobReport).end).toBeUndefined()
})

test('a job of another session cannot be read or ended', async () => {
  const job = await start(untilGo)
  const other = await bench.ctx.sessions.create({ cwd: bench.cwd })
  for (const tool of ['bash_output', 'bash_kill']) {
    const { outcome, text } = await bench.call(tool, { job }, { session: other })
    expect(outcome).toMatchObject({ tag: 'failed', code: 'SHELL_JOB_UNKNOWN' })
    expect(text).toContain(`There is no job ${job} in this session. It has none.`)
  }
  expect((await ask('bash_output', { job: 'job_x' })).text).toContain(`Its jobs are ${job}.`)
  expect(await printed(job)).toBe('ready\n')
})

test('unloading the plugin ends its jobs and writes how they ended', async () => {
  const job = await start(untilGo)
  await printed(job)
  await bench.fiber.dispose()
  expect(bench.world.processes.isAlive(await pid())).toBe(false)
  expect(bench.session.events.at(-1)).toMatchObject({ type: 'shell/job-ended', data: { job, ended: 'aborted' } })
  expect(bench.ctx.tools.visible()).toEqual([])
})

test('a session has a bounded number of running jobs, and ended ones are forgotten, the oldest first', async () => {
  const running = []
  for (let i = 0; i < JOBS_RUNNING_MAX; i++) running.push(await start('sleep 1000'))
  const refused = await bench.bash({ command: 'echo no > ran', background: true })
  expect(refused.outcome).toMatchObject({ tag: 'failed', code: 'SHELL_JOBS_TOO_MANY' })
  expect(refused.text).toContain(`${JOBS_RUNNING_MAX} background jobs run already`)
  await Promise.all(running.map((job) => ask('bash_kill', { job })))
  const more = []
  for (let i = 0; i < JOBS_ENDED_MAX; i++) more.push(await start('true'))
  await Promise.all(more.map((job) => ask('bash_output', { job, ...WAIT })))
  for (const job of running) {
    expect((await ask('bash_output', { job })).outcome).toMatchObject({ code: 'SHELL_JOB_UNKNOWN' })
  }
  expect((await ask('bash_output', { job: more[0] as string })).outcome).toMatchObject({ tag: 'succeeded' })
})

test('a flood of a job is bounded between two looks, and the look after it is whole again', async () => {
  const job = await start('seq 1000000; until [ -e go ]; do sleep 0.01; done; echo last')
  for (let head = ''; !head.startsWith('1\n'); ) head = await printed(job)
  await bench.bash('touch go')
  const { text, value } = await ask('bash_output', { job, ...WAIT })
  expect(text.length).toBeLessThan(25_000)
  expect(value.end).toMatchObject({ exitCode: 0 })
  expect(text).toMatch(/last\n\[job_\w+ has ended with exit code 0\]$/)
})

test('a job that cannot start is none', async () => {
  await bench.close()
  bench = await makeBench({ config: { shell: 'no-such-shell' } })
  for (let i = 0; i <= JOBS_RUNNING_MAX; i++) {
    const { outcome } = await bench.bash({ command: 'true', background: true })
    expect(outcome).toMatchObject({ tag: 'failed', code: 'SHELL_NOT_STARTED' })
  }
})

test('what the model reads of the tools for jobs is this', () => {
  const infos = bench.ctx.tools.visible().filter(({ name }) => name !== 'bash')
  const texts = infos.map(({ name, description, parameters, annotations, overlap }) => {
    return { name, description, parameters, annotations, overlap }
  })
  expect(texts).toMatchInlineSnapshot(`
    [
      {
        "annotations": {
          "destructive": false,
          "idempotent": true,
          "openWorld": false,
          "readOnly": false,
          "startsProcesses": false,
          "transparent": false,
        },
        "description": "Ends a background job of bash with all its processes and returns what it had printed since it was last asked.",
        "name": "bash_kill",
        "overlap": "exclusive",
        "parameters": {
          "properties": {
            "job": {
              "description": "The id that bash returned.",
              "type": "string",
            },
          },
          "required": [
            "job",
          ],
          "type": "object",
        },
      },
      {
        "annotations": {
          "destructive": false,
          "idempotent": false,
          "openWorld": false,
          "readOnly": true,
          "startsProcesses": false,
          "transparent": false,
        },
        "description": "Returns what a background job of bash has printed since it was last asked, whether it still runs, and how it ended. With waitMs it first waits for the end of the job.",
        "name": "bash_output",
        "overlap": "parallel",
        "parameters": {
          "properties": {
            "job": {
              "description": "The id that bash returned.",
              "type": "string",
            },
            "waitMs": {
              "description": "How long to wait for the job to end, in milliseconds.",
              "maximum": 60000,
              "minimum": 0,
              "type": "integer",
            },
          },
          "required": [
            "job",
          ],
          "type": "object",
        },
      },
    ]
  `)
})

test('looks at jobs show a terminal with what they found', async () => {
  const job = await start('echo hi; exit 4')
  const { settled } = await ask('bash_output', { job, ...WAIT })
  const card = { v: 1, kind: 'terminal', title: `Output of ${job}`, command: job }
  expect(settled.data.card).toEqual({ ...card, output: 'hi\n', exitCode: 4 })
})
