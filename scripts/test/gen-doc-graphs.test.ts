import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { genDocGraphs } from '../docs/reference.ts'

describe('pnpm gen-doc-graphs', { timeout: 120_000 }, () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'))
    const names = ['@sluice/store-jsonl', '@sluice/session', '@sluice/tools', '@sluice/approval', './listens.mjs']
    writeFileSync(join(folder, 'sluice.yml'), names.map((name) => `- name: "${name}"\n`).join(''))
    const listens = 'ctx.on("tools/pre-execute", (call, next) => next())'
    writeFileSync(
      join(folder, 'listens.mjs'),
      `export const name = 'listens'\nexport const inject = ['tools']\nexport const apply = (ctx) => void ${listens}\n`,
    )
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  async function generate(...args: string[]) {
    const said: string[] = []
    const complained: string[] = []
    const own = ['--composition', join(folder, 'sluice.yml')]
    const code = await genDocGraphs(
      [...own, ...args],
      (text) => said.push(text),
      (text) => complained.push(text),
    )
    return { code, said: said.join('\n'), complained: complained.join('\n') }
  }

  it('prints the pages of a composition anywhere on disk beside it, and checks them afterwards', async () => {
    expect(await generate('--check')).toMatchObject({ code: 1 })
    expect(await generate()).toMatchObject({ code: 0, complained: '' })
    const page = join(folder, 'docs', 'reference', 'tool-execution-pipeline.md')
    expect(readFileSync(page, 'utf8')).toContain('listens (`./listens.mjs`)')
    expect(await generate('--check')).toEqual({ code: 0, said: '', complained: '' })

    writeFileSync(page, readFileSync(page, 'utf8').replace('### guards', '### locks'))
    const changed = await generate('--check')
    expect(changed.code).toBe(1)
    expect(changed.said).toContain('-### locks\n+### guards')
    expect(changed.said).toContain(`run: pnpm gen-doc-graphs --composition ${join(folder, 'sluice.yml')}`)
  })

  // docs-graphs 3
  const happens = "{ kind: 'notification', when: 'Now.', during: [] }"
  it.each([
    [
      'an event',
      `() => {}\nexport const events = { emitter: 'new', events: { 'new/thing': ${happens} } }`,
      'events.md',
    ],
    ['a listener', "(ctx) => void ctx.on('tools/result', () => {})", 'events.md'],
    ['a guard', "(ctx) => void ctx.tools.guard('new', () => undefined)", 'tool-execution-pipeline.md'],
  ])('finds that %s was added, and nothing once it is gone', async (what, apply, page) => {
    const [out, composition] = [join(folder, what), join(folder, `${what}.yml`)]
    const before = readFileSync(join(folder, 'sluice.yml'), 'utf8')
    const check = (...args: string[]) => generate('--composition', composition, '--out', out, ...args)
    writeFileSync(join(folder, `${what}.mjs`), `export const inject = ['tools']\nexport const apply = ${apply}\n`)
    writeFileSync(composition, before)
    expect(await check()).toMatchObject({ code: 0, complained: '' })
    writeFileSync(composition, `${before}- name: "./${what}.mjs"\n`)
    const { code, said } = await check('--check')
    expect([code, said.includes(`different: ${relative(process.cwd(), out)}/${page}`)]).toEqual([1, true])
    writeFileSync(composition, before)
    expect(await check('--check')).toEqual({ code: 0, said: '', complained: '' })
  })

  it('prints them in another folder when one is given', async () => {
    const out = join(folder, 'elsewhere')
    expect(await generate('--out', out)).toMatchObject({ code: 0, complained: '' })
    expect(readdirSync(out)).toContain('tools.md')
  })

  it('prints the composition that comes with the sluice command, with all its entries, as a copy in a folder of the user', async () => {
    const original = fileURLToPath(new URL('../../packages/host/cli/sluice.yml', import.meta.url))
    const copy = join(folder, 'copy.yml')
    writeFileSync(copy, readFileSync(original, 'utf8').replaceAll('  disabled: true\n', ''))
    const out = join(folder, 'copy')
    expect(await generate('--composition', copy, '--out', out)).toMatchObject({ code: 0, complained: '' })
    expect(readFileSync(join(out, 'tools.md'), 'utf8')).toContain('run_code')
  })

  it('ends with the remedy when the composition cannot be read', async () => {
    const { code, complained } = await generate('--composition', join(folder, 'absent.yml'))
    expect(code).toBe(1)
    expect(complained).toContain('there is no such file\nGive the path of an existing composition file')
  })
})
