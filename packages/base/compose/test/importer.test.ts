import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { moduleImporter, resolveModule } from '../src/index.ts'

const host = fileURLToPath(import.meta.url)

describe('a module name', () => {
  let folder: string
  let file: string

  function write(path: string, text: string) {
    const full = join(folder, path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, text)
    return pathToFileURL(full).href
  }

  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-importer-')))
    file = join(folder, 'sluice.yml')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('that is a path counts from the composition file', async () => {
    const url = write('plugins/my-plugin.mjs', 'export const name = "mine"\n')
    expect(resolveModule('./plugins/my-plugin.mjs', [file, host])).toBe(url)
    expect(resolveModule(fileURLToPath(url), [file, host])).toBe(url)
    expect(await moduleImporter(host)('./plugins/my-plugin.mjs', file)).toMatchObject({ name: 'mine' })
  })

  it('that is a package is looked up beside the composition file first', () => {
    write('node_modules/yaml/package.json', '{ "name": "yaml", "main": "own.js" }')
    const own = write('node_modules/yaml/own.js', '')
    expect(resolveModule('yaml', [file, host])).toBe(own)
  })

  it('that is a package of the host alone is found beside the host', async () => {
    expect(resolveModule('@sluice/base', [file, host])).toMatch(/base\/src\/index\.ts$/)
    expect(await moduleImporter(host)('@sluice/base', file)).toBe(await import('@sluice/base'))
  })

  it.each([
    ['by-import', '{ "exports": { ".": { "types": "./x.d.ts", "import": "./in.js" } } }', 'by-import', 'in.js'],
    ['by-nested', '{ "exports": { "node": { "import": "./in.js" } } }', 'by-nested', 'in.js'],
    ['@scope/by-path', '{ "exports": { "./plug": { "import": "./plug.js" } } }', '@scope/by-path/plug', 'plug.js'],
  ])('of a package that can only be imported is found: %s', (folderName, manifest, name, target) => {
    write(`node_modules/${folderName}/package.json`, manifest)
    const url = write(`node_modules/${folderName}/${target}`, '')
    expect(resolveModule(name, [file, host])).toBe(url)
  })

  it('that nobody knows is refused with the places where it was looked for', () => {
    expect(() => resolveModule('@sluice/nowhere', [file, host])).toThrow(
      expect.objectContaining({
        code: 'COMPOSE_MODULE_NOT_FOUND',
        message: `cannot find @sluice/nowhere, looked from ${file} and ${host}`,
      }),
    )
  })

  it('of a package that does not export the path is refused in the same way', () => {
    write('node_modules/closed/package.json', '{ "exports": { ".": { "import": "./in.js" } } }')
    expect(() => resolveModule('closed/inside', [file, host])).toThrow('cannot find closed/inside')
  })
})
