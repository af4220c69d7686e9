import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { scriptedModel } from '@sluice/testkit'
import type { Context } from 'cordis'
import { expect, test } from 'vitest'
import { withGrantingFiles } from '../src/granting-files.ts'
import { defaultComposition } from '../src/paths.ts'
import { calls, place, watchedTerminal } from './harness.ts'

/** The default composition with a scripted model, and whatever is asked allowed. */
async function permissive(steps: Parameters<typeof scriptedModel>[0], add = '') {
  const model = {
    name: 'sim',
    inject: ['llm'],
    apply: (ctx: Context) => void ctx.llm.register('sim', scriptedModel(steps)),
  }
  const p = await place({ modules: { '@sluice/llm-ai-sdk': model } })
  const own = join(p.folder, 'own.yml')
  const composition = (await readFile(defaultComposition, 'utf8')).replace('mode: default', 'mode: accept-edits')
  await writeFile(own, `${composition}${add}`)
  return { p, own }
}

// files.md 10
test('no tool changes the folder of session logs, although the mode accepts edits and a person would allow it', async () => {
  const { p, own } = await permissive([
    calls('write', { path: 'data/sluice/sessions/other/events.jsonl', content: 'forged' }),
    calls('write', { path: 'fine.txt', content: 'fine' }),
    'done',
  ])
  await mkdir(join(p.folder, 'data/sluice/sessions/other'), { recursive: true })
  const t = watchedTerminal(p.folder, { interactive: true, lines: ['y', 'y'] })
  expect(await p.sluice(t, 'run', '--composition', own, '--model', 'sim/one', 'forge')).toBe(3)
  expect(t.out).toContain('is protected and is never changed by a tool')
  expect(await readdir(join(p.folder, 'data/sluice/sessions/other'))).toEqual([])
  expect(await readFile(join(p.folder, 'fine.txt'), 'utf8')).toBe('fine')
})

test('the composition of a run and the modules that it names are changed only when a person allows it', async () => {
  const { p, own } = await permissive(
    [calls('write', { path: 'own.yml', content: '' }), calls('write', { path: 'house.mjs', content: '' }), 'done'],
    '- name: ./house.mjs\n',
  )
  await writeFile(join(p.folder, 'house.mjs'), "export const name = 'house'\nexport function apply() {}\n")
  const t = watchedTerminal(p.folder, { interactive: true, lines: ['n', 'n'] })
  expect(await p.sluice(t, 'run', '--composition', own, '--model', 'sim/one', 'open the door')).toBe(3)
  expect(t.out.match(/allow\? \[/g)).toHaveLength(2)
  expect(t.out).toContain('(named as house.mjs) decides what may be done here, so a person must agree to each change')
  expect(await readFile(own, 'utf8')).toContain('@sluice/workspace')
})

test('a sandbox is told of the same files, and what a composition protects itself stays', () => {
  const entry = (name: string, config?: Record<string, string[] | string>) => {
    return { id: name, name, config, disabled: false, line: 1 }
  }
  const host = { env: {}, homeDir: '/home/user' } as unknown as Parameters<typeof withGrantingFiles>[2]
  const entries = [
    entry('@sluice/store-jsonl', { dir: '/logs' }),
    entry('@sluice/workspace', { protectedPaths: ['/mine'], roots: ['/tmp'] }),
    entry('@sluice/sandbox'),
    entry('./rules.ts'),
  ]
  const adjusted = withGrantingFiles(entries, '/proj/sluice.yml', host).map(({ config }) => config)
  expect(adjusted[1]).toEqual({
    protectedPaths: ['/mine', '/logs'],
    authorityPaths: ['/proj/sluice.yml', '/proj/rules.ts'],
    roots: ['/tmp'],
  })
  expect(adjusted[2]).toEqual({ protectedPaths: ['/logs', '/proj/sluice.yml', '/proj/rules.ts'] })
  expect([adjusted[0], adjusted[3]]).toEqual([{ dir: '/logs' }, undefined])
})
