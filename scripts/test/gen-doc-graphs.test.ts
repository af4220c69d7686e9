import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
    const own = ['--composition', join(folder, 'sluice.yml'), '--out', join(folder, 'reference')]
    const code = await genDocGraphs(
      [...own, ...args],
      (text) => said.push(text),
      (text) => complained.push(text),
    )
    return { code, said: said.join('\n'), complained: complained.join('\n') }
  }

  it('prints the pages of a composition anywhere on disk, and checks them afterwards', async () => {
    expect(await generate('--check')).toMatchObject({ code: 1 })
    expect(await generate()).toMatchObject({ code: 0, complained: '' })
    const page = join(folder, 'reference', 'tool-execution-pipeline.md')
    expect(readFileSync(page, 'utf8')).toContain('listens (`./listens.mjs`)')
    expect(await generate('--check')).toEqual({ code: 0, said: '', complained: '' })

    writeFileSync(page, readFileSync(page, 'utf8').replace('### guards', '### locks'))
    const changed = await generate('--check')
    expect(changed.code).toBe(1)
    expect(changed.said).toContain('-### locks\n+### guards')
    expect(changed.said).toContain('run: pnpm gen-doc-graphs')
  })

  it('ends with the remedy when the composition cannot be read', async () => {
    const { code, complained } = await generate('--composition', join(folder, 'absent.yml'))
    expect(code).toBe(1)
    expect(complained).toContain('there is no such file\nGive the path of an existing composition file')
  })
})
