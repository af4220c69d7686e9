import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import { calls, place, tool, watchedTerminal } from './harness.ts'

const root = new URL('../../../../', import.meta.url)
const readme = await readFile(new URL('README.md', root), 'utf8')
const allowing = {
  name: 'permissions',
  apply: (ctx: Context) => void ctx.on('tools/pre-execute', () => ({ kind: 'allow' })),
}

describe('the README of the project', () => {
  test('its plugin has at most 20 lines and does what it says', async () => {
    const [block = ''] = /(?<=^```ts\n)[\s\S]*?(?=^```)/m.exec(readme) ?? []
    expect(block.trimEnd().split('\n').length).toBeLessThanOrEqual(20)
    const heard: string[] = []
    const p = await place({
      steps: [
        calls('edit', { path: 'package-lock.json' }),
        calls('edit', { path: 'a.ts' }),
        (request) => (heard.push(...request.messages.map((message) => JSON.stringify(message.content))), 'done'),
      ],
      tools: [tool('edit', () => 'edited')],
      entries: '- name: ./house-rules.ts\n- id: permissions\n  name: allowing\n',
      modules: { allowing },
    })
    await writeFile(join(p.folder, 'house-rules.ts'), block)
    const t = watchedTerminal(p.folder)
    expect(await p.sluice(t, 'run', '--composition', p.composition, '--model', 'sim/one', 'go')).toBe(3)
    expect(t.out).toContain('the package manager writes lockfiles')
    expect(heard.join('\n').match(/Run the formatter before you finish\./g)).toHaveLength(1)
  })

  test('its plugin passes the type check in a folder of its own, set up as it says', async () => {
    const [plugin = ''] = /(?<=^```ts\n)[\s\S]*?(?=^```)/m.exec(readme) ?? []
    const [setup = ''] = /(?<=^```sh\n)ln -s [\s\S]*?(?=^```)/m.exec(readme) ?? []
    const folder = await mkdtemp(join(tmpdir(), 'sluice-plugin-'))
    try {
      await writeFile(join(folder, 'house-rules.ts'), plugin)
      const script = setup.replaceAll('SLUICE', fileURLToPath(root).slice(0, -1))
      await writeFile(join(folder, 'wrong.ts'), "export const wrong: number = ''\n")
      const checked = promisify(execFile)('sh', ['-ec', script], { cwd: folder }).catch((error: unknown) => error)
      const { stdout } = (await checked) as { stdout: string }
      expect(stdout).toMatch(/^wrong\.ts\(1,14\): error TS2322: .*\n$/)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('a plugin finds whatever the READMEs import beside the command', async () => {
    const { dependencies } = JSON.parse(await readFile(new URL('packages/host/cli/package.json', root), 'utf8')) as {
      dependencies: Record<string, string>
    }
    const imported = new Set<string>()
    for (const layer of ['base', 'core', 'policy', 'tool', 'adapter']) {
      for (const folder of await readdir(new URL(`packages/${layer}/`, root))) {
        const text = await readFile(new URL(`packages/${layer}/${folder}/README.md`, root), 'utf8')
        for (const [, name = ''] of text.matchAll(/^import .*from '((?:@[^/']+\/)?[^/':]+)/gm)) imported.add(name)
      }
    }
    expect([...imported].filter((name) => !Object.hasOwn(dependencies, name))).toEqual([])
    expect(imported.size).toBeGreaterThan(20)
  })

  test('every file and folder that it links to is there', async () => {
    for (const [, path = ''] of readme.matchAll(/\]\(([^)#:]+)\)/g)) {
      expect([
        path,
        await stat(new URL(path, root)).then(
          () => 'is there',
          () => 'is missing',
        ),
      ]).toEqual([path, 'is there'])
    }
  })
})
