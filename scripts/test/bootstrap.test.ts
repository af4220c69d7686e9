import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { installStale, recordInstall, storeArguments, tooOld } from '../bootstrap/state.mjs'

describe('a start', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'sluice-bootstrap-'))
    writeFileSync(join(root, 'pnpm-lock.yaml'), 'one')
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it('refuses a Node that is older than the manifest asks for', () => {
    expect(tooOld('20.18.3', '20.19.0')).toBe(true)
    expect(tooOld('18.20.0', '20.19.0')).toBe(true)
    expect(tooOld('20.19.0', '20.19.0')).toBe(false)
    expect(tooOld('20.20.2', '20.19.0')).toBe(false)
    expect(tooOld('24.0.0', '20.19.0')).toBe(false)
  })

  it('installs when nothing is installed and when the lockfile has changed, and not again', () => {
    expect(installStale(root)).toBe(true)
    mkdirSync(join(root, 'node_modules'))
    expect(installStale(root)).toBe(true)
    recordInstall(root)
    expect(installStale(root)).toBe(false)
    writeFileSync(join(root, 'pnpm-lock.yaml'), 'two')
    expect(installStale(root)).toBe(true)
  })

  it('installs from the store that the present installation came from, wherever the variables point now', () => {
    expect(storeArguments(root)).toEqual([])
    mkdirSync(join(root, 'node_modules'))
    const modules = join(root, 'node_modules', '.modules.yaml')
    for (const [text, store] of [
      ['{\n  "storeDir": "/proj/a b/store/v10",\n  "virtualStoreDir": ".pnpm"\n}', '/proj/a b/store/v10'],
      ['registries: {}\nstoreDir: /proj/store/v10\nvirtualStoreDir: .pnpm\n', '/proj/store/v10'],
    ] as const) {
      writeFileSync(modules, text)
      expect(storeArguments(root)).toEqual([`--store-dir=${store}`])
    }
  })
})
