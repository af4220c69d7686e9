import { appendFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deferred } from '@sluice/testkit'
import type { Call, Verdict } from '@sluice/tools'
import type { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import { calls, type Place, place, type PlaceOptions, tool, watchedTerminal, type WatchedTerminal } from './harness.ts'

/** Permits whatever is asked, as a policy may that the composition lets allow. */
const allowing = {
  name: 'permissions',
  apply: (ctx: Context) =>
    void ctx.on(
      'tools/pre-execute',
      (call: Call): Verdict => (call.tool === 'risky' ? { kind: 'ask', reason: 'it is risky' } : { kind: 'allow' }),
    ),
}
const permitted = { entries: '- id: permissions\n  name: allowing\n', modules: { allowing } }

async function runIn(p: Place, terminal: WatchedTerminal, ...argv: string[]) {
  return p.sluice(terminal, 'run', '--composition', p.composition, '--model', 'sim/one', ...argv)
}

async function start(options: PlaceOptions, terminal: Parameters<typeof watchedTerminal>[1] = {}) {
  const p = await place({ ...permitted, ...options })
  return { p, t: watchedTerminal(p.folder, terminal) }
}

describe('sluice run TASK', () => {
  test('a task shows each call as a pending card and then a completed card, and exits with 0', async () => {
    const { p, t } = await start({
      steps: [{ text: 'Let me look.', calls: [{ name: 'look', args: { at: 'x' } }] }, 'It is fine.'],
      tools: [
        tool('look', () => 'a\nb', {
          presentCall: (args) => ({ v: 1, kind: 'generic', title: `look at ${String(args.at)}` }),
          presentResult: () => ({ v: 1, kind: 'generic', title: 'looked', text: 'two lines' }),
        }),
      ],
    })
    expect(await runIn(p, t, 'check x')).toBe(0)
    expect(t.out).toMatch(/^Let me look\.\n▸ look at x\n✔ looked {2}\(\d+ ms\)\n {4}two lines\nIt is fine\.\n$/)
    expect(t.err).toMatch(/^sandbox: .+\nsession \S+\n$/)
  })

  test('with --json each event of the session is one line, and nothing else is written', async () => {
    const { p, t } = await start({ steps: [calls('look'), 'ok'], tools: [tool('look', () => 1)] })
    expect(await runIn(p, t, '--json', 'go')).toBe(0)
    const events = t.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; type: string })
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events[0]).toMatchObject({
      type: 'session/started',
      data: { cwd: p.folder, composition: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    })
    expect(events.at(-1)?.type).toBe('turn/ended')
    expect(t.err).toBe('')
  })

  // BUG-036
  test('without a terminal what would ask is denied with a reason, and the run exits with 3', async () => {
    let ran = false
    const { p, t } = await start({
      steps: [calls('risky'), 'I could not.'],
      tools: [tool('risky', () => (ran = true))],
    })
    expect(await runIn(p, t, 'do it')).toBe(3)
    expect(ran).toBe(false)
    expect(t.out).toMatch(/⊘ risky: denied {2}\(by approval, .*\)\n {4}.*nobody could be asked/)
    expect(t.err).toContain('1 of its calls was denied')
  })

  test('a person at the terminal is asked, sees the reason, and may allow or refuse with words for the model', async () => {
    let runs = 0
    const heard: string[] = []
    const { p, t } = await start(
      {
        steps: [
          calls('risky'),
          (request) => (heard.push(JSON.stringify(request.messages.at(-1))), { calls: [{ name: 'risky' }] }),
          'done',
        ],
        tools: [tool('risky', () => (runs += 1))],
      },
      { interactive: true, lines: ['not on a Friday', 'y'] },
    )
    expect(await runIn(p, t, 'do it')).toBe(3)
    expect(runs).toBe(1)
    expect(t.out).toContain('? Allow risky? it is risky')
    expect(heard[0]).toContain('not on a Friday')
  })

  test('a model that cannot be reached fails with code and remedy, and its session opens afterwards', async () => {
    const { p, t } = await start({ env: { SLUICE_BASE_URL: 'http://127.0.0.1:9/v1', SLUICE_MODEL: 'm' } })
    const argv = ['run', '--composition', p.composition, 'hello']
    await appendFile(p.composition, "- id: model\n  name: '@sluice/llm-ai-sdk'\n  config: { retriesMax: 0 }\n")
    expect(await p.sluice(t, ...argv)).toBe(1)
    expect(t.out).toMatch(/■ error: cannot reach the model endpoint .* \(LLM_UNREACHABLE\)/)
    expect(t.err).toContain('→ Check the base URL and that the server runs')
    const id = /session (\S+)/.exec(t.err)?.[1] ?? ''
    const shown = watchedTerminal(p.folder)
    expect(await p.sluice(shown, 'session', 'show', id)).toBe(0)
    expect(shown.out).toContain('> hello')
    expect(shown.out).toContain('LLM_UNREACHABLE')
  })

  test('the first Ctrl-C settles the turn and exits with 130; the session goes on with --session last', async () => {
    const entered = deferred()
    const { p, t } = await start({
      steps: [calls('slow')],
      tools: [
        tool('slow', (_args, run) => {
          entered.resolve()
          return new Promise((_, reject) =>
            run.signal.addEventListener('abort', () => reject(run.signal.reason as Error)),
          )
        }),
      ],
    })
    const running = runIn(p, t, 'wait')
    await entered.promise
    t.interrupt()
    expect(await running).toBe(130)
    expect(t.out).toMatch(/✘ slow: aborted/)
    expect(t.out).toContain('■ aborted: interrupted by the user')
    const again = await place({
      ...permitted,
      steps: ['Going on.'],
      env: p.parts.world.host.env as Record<string, string>,
    })
    const later = watchedTerminal(p.folder)
    expect(await runIn(again, later, '--session', 'last', 'go on')).toBe(0)
    expect(later.out).toBe('Going on.\n')
    expect(later.err.slice(later.err.indexOf('session '))).toBe(t.err.slice(t.err.indexOf('session ')))
  })

  test('a second Ctrl-C ends the command although the turn does not settle', async () => {
    const entered = deferred()
    const { p, t } = await start({
      steps: [calls('deaf')],
      tools: [tool('deaf', () => (entered.resolve(), new Promise(() => {})))],
    })
    const running = runIn(p, t, 'wait')
    await entered.promise
    t.interrupt()
    expect(t.err).toContain('press Ctrl-C again to end at once')
    t.interrupt()
    expect(await running).toBe(130)
  })

  test('text of a model or tool cannot send control sequences to the terminal', async () => {
    const { p, t } = await start({
      steps: [{ text: 'a\u001b[2Jb', calls: [{ name: 'look' }] }, 'ok\u202e'],
      tools: [
        tool('look', () => '\u001b]0;title\u0007', {
          presentResult: (_args, result) => ({
            v: 1,
            kind: 'generic',
            title: 'got\u001b[1A',
            text: JSON.stringify(result.content) + '\u009b31m',
          }),
        }),
      ],
    })
    await runIn(p, t, 'go')
    // oxlint-disable-next-line no-control-regex
    expect(t.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    expect(t.out).toContain('a\\u{1b}[2Jb')
  })
})

describe('sluice run', () => {
  test('without a task it holds a conversation until the end of input', async () => {
    const { p, t } = await start(
      { steps: ['Hello.', 'Bye.'] },
      { interactive: true, lines: ['hi', '', '  ', 'so long'] },
    )
    expect(await runIn(p, t)).toBe(0)
    expect(t.out).toBe('\n> Hello.\n\n> \n> \n> Bye.\n\n> ')
  })

  test('Ctrl-C at the prompt of a conversation ends it with 130', async () => {
    const { p, t } = await start({ steps: ['Hello.'] }, { interactive: true, lines: ['hi'], after: 'wait' })
    const running = runIn(p, t)
    await t.until('Hello.\n\n> ')
    t.interrupt()
    expect(await running).toBe(130)
  })

  test('Ctrl-C during a turn of a conversation returns to the prompt', async () => {
    const { p, t } = await start(
      { steps: [{ text: 'Hm', hang: true }, 'Still here.'] },
      { interactive: true, lines: ['a', 'b'] },
    )
    const running = runIn(p, t)
    await t.until('Hm')
    t.interrupt()
    expect(await running).toBe(0)
    expect(t.out).toContain('Still here.')
  })
})

describe('what keeps a run from starting', () => {
  async function failing(p: Place, ...argv: string[]) {
    const t = watchedTerminal(p.folder)
    const code = await p.sluice(t, ...argv)
    expect(t.err).toContain('→ ')
    expect(t.err.split('\n').length).toBeLessThan(24)
    return { code, err: t.err }
  }

  test('a run without any model says which variables to set', async () => {
    const p = await place()
    const { code, err } = await failing(p, 'run', '--composition', p.composition, 'x')
    expect(code).toBe(2)
    expect(err).toContain('CLI_NO_MODEL')
    expect(err).toContain('DEEPSEEK_API_KEY')
  })

  test('an endpoint without a model name is refused', async () => {
    const p = await place({ env: { SLUICE_BASE_URL: 'http://127.0.0.1:9' } })
    const { code, err } = await failing(p, 'run', '--composition', p.composition, 'x')
    expect([code, err.includes('CLI_MODEL_UNNAMED')]).toEqual([2, true])
  })

  test('a working folder that is missing, or is a file, is refused', async () => {
    const p = await place()
    const missing = await failing(p, 'run', '--cwd', 'nowhere', 'x')
    expect([missing.code, missing.err.includes('does not exist (CLI_CWD_MISSING)')]).toEqual([2, true])
    const file = await failing(p, 'run', '--cwd', p.composition, 'x')
    expect(file.err).toContain('is a file (CLI_CWD_MISSING)')
  })

  test('a composition that does not exist is refused', async () => {
    const p = await place()
    const { code, err } = await failing(p, 'run', '--composition', 'none.yml', '--model', 'sim/one', 'x')
    expect([code, err.includes('CLI_COMPOSITION_MISSING')]).toEqual([1, true])
  })

  test('an unreadable composition names file, line and problem', async () => {
    const p = await place()
    await writeFile(p.composition, "- name: '@sluice/session'\n- nam: sim\n")
    const { code, err } = await failing(p, 'run', '--composition', p.composition, '--model', 'sim/one', 'x')
    expect(code).toBe(1)
    expect(err).toContain(`${p.composition}:2`)
    expect(err).toContain('COMPOSE_SHAPE')
  })

  test('a plugin that fails to load is named with the reason and what depends on it', async () => {
    const broken = {
      name: 'broken',
      provide: ['oracle'],
      apply() {
        throw new Error('no licence key')
      },
    }
    const seer = { name: 'seer', inject: ['oracle'], apply() {} }
    const p = await place({ entries: '- name: broken\n- name: seer\n', modules: { broken, seer } })
    const { code, err } = await failing(p, 'run', '--composition', p.composition, '--model', 'sim/one', 'x')
    expect(code).toBe(1)
    for (const part of ['broken', 'no licence key', 'seer', 'COMPOSE_NOT_READY']) expect(err).toContain(part)
  })

  test('a plugin that is wrongly configured is named without a stack', async () => {
    const wrong = "- name: '@sluice/permissions'\n  config: { allow: ['bash(*)'] }\n"
    const p = await place({ entries: wrong })
    const { err } = await failing(p, 'run', '--composition', p.composition, '--model', 'sim/one', 'x')
    expect(err).toContain('looks like a pattern (PERMISSIONS_RULE_INVALID)')
    expect(err).not.toMatch(/^\s+at /m)
  })

  test('a composition without agents is refused with what is missing', async () => {
    const p = await place()
    await writeFile(p.composition, "- name: '@sluice/store-jsonl'\n- name: '@sluice/session'\n")
    const { err } = await failing(p, 'run', '--composition', p.composition, '--model', 'sim/one', 'x')
    expect(err).toContain('does not provide agents, tools, llm')
    expect(err).toContain('CLI_COMPOSITION_INCOMPLETE')
  })

  test('no task, or an empty one, and no terminal is refused', async () => {
    const p = await place()
    for (const argv of [['run'], ['run', ''], ['run', ' \n']]) {
      const { code, err } = await failing(p, ...argv)
      expect([code, err.includes('CLI_NO_TASK')], argv.join()).toEqual([2, true])
    }
  })

  test('a folder without a session has no last one', async () => {
    const p = await place({ ...permitted })
    const argv = ['run', '--composition', p.composition, '--model', 'sim/one', '--session']
    expect((await failing(p, ...argv, 'last', 'x')).err).toContain('CLI_NO_SESSION')
    expect((await failing(p, ...argv, '20300101-000000-abcdefgh', 'x')).err).toContain('CLI_SESSION_UNKNOWN')
  })

  test('a sluice.yml of the working folder is not run unless it is asked for, and that is said', async () => {
    const p = await place()
    await writeFile(join(p.folder, 'sluice.yml'), '- name: ./evil.mjs\n')
    await writeFile(join(p.folder, 'evil.mjs'), "throw new Error('evil ran')\n")
    const { code, err } = await failing(p, 'run', 'x')
    expect(code).toBe(2)
    expect(err).toContain('sluice.yml of the working folder is not used')
    expect(err).not.toContain('evil')
  })

  test('a composition of the user in the XDG folder is used before the default', async () => {
    const p = await place()
    await mkdir(join(p.folder, 'config', 'sluice'), { recursive: true })
    await writeFile(join(p.folder, 'config', 'sluice', 'sluice.yml'), 'nonsense: true\n')
    const { err } = await failing(p, 'run', '--model', 'sim/one', 'x')
    expect(err).toContain(join(p.folder, 'config', 'sluice', 'sluice.yml'))
    expect(await readdir(p.folder)).not.toContain('data')
  })
})
