import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '@sluice/sandbox'
import { scriptedModel } from '@sluice/testkit'
import type { Context } from 'cordis'
import { expect, test } from 'vitest'
import { defaultComposition } from '../src/paths.ts'
import { calls, place, watchedTerminal } from './harness.ts'

const walls = {
  name: 'walls',
  inject: ['sandbox'],
  apply: (ctx: { sandbox: Sandbox }) =>
    void ctx.sandbox.adapter({
      name: 'walls',
      check: async () => ({ available: true, detail: 'walls 1.0' }),
      spawn: () => Promise.reject(new Error('nothing is started here')),
    }),
}

test('a run says first which sandbox is in force, or that none is', async () => {
  const entries = "- name: '@sluice/sandbox'\n- name: walls\n"
  for (const [options, line] of [
    [{ entries, modules: { walls } }, 'sandbox: walls 1.0, workspace-write, network: none\n'],
    [{}, 'sandbox: none: the composition mounts no @sluice/sandbox\n'],
  ] as const) {
    const p = await place({ steps: ['Hello.'], ...options })
    const t = watchedTerminal(p.folder)
    expect(await p.sluice(t, 'run', '--composition', p.composition, '--model', 'sim/one', 'hi')).toBe(0)
    expect(t.err.startsWith(line)).toBe(true)
  }
})

/** The default composition where bubblewrap is not to be found, with a rule that allows the command. */
async function unconfined() {
  const steps = [calls('bash', { command: 'echo started' }), 'Done.']
  const apply = (ctx: Context) => void ctx.llm.register('sim', scriptedModel(steps))
  const p = await place({ modules: { '@sluice/llm-ai-sdk': { name: 'sim', inject: ['llm'], apply } } })
  const composition = (await readFile(defaultComposition, 'utf8'))
    .replace('"@sluice/sandbox-bubblewrap"', '"@sluice/sandbox-bubblewrap"\n  config: { programFolders: [] }')
    .replace('mode: default', 'mode: default\n    allow: ["bash(echo started)"]')
  const own = join(p.folder, 'own.yml')
  await writeFile(own, composition)
  return { p, argv: ['run', '--composition', own, '--model', 'sim/one', 'go'] }
}

test('where nothing confines, a command that a rule allows is asked about all the same', async () => {
  const { p, argv } = await unconfined()
  const t = watchedTerminal(p.folder, { interactive: true, lines: ['y'] })
  expect(await p.sluice(t, ...argv)).toBe(0)
  expect(t.err).toContain('sandbox: none: bubblewrap (bwrap) is not installed. Install the packages')
  expect(t.out).toContain('no sandbox confines the process: bubblewrap (bwrap) is not installed')
  expect(t.out).toMatch(/✔ bash \$ echo started/)
})

test('where nothing confines and nobody can be asked, no command runs', async () => {
  const { p, argv } = await unconfined()
  const t = watchedTerminal(p.folder)
  expect(await p.sluice(t, ...argv)).toBe(3)
  expect(t.out).toMatch(/⊘ bash: denied/)
})
