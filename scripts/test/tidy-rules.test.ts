import { describe, expect, it } from 'vitest'
import { ambientProblems } from '../tidy/ambient.ts'
import { errorProblems } from '../tidy/errors.ts'
import { layerProblems, whyNot } from '../tidy/layers.ts'
import { nameProblems } from '../tidy/names.ts'
import { readmeProblems } from '../tidy/readme.ts'
import { type Manifest, packagesOf, type Problem, type SourceFile } from '../tidy/repo.ts'

const NODE = '>=20.19.0'

/** The files of a package `layer/folder`, sound unless `files` say otherwise. */
function pack(place: string, files: Record<string, string> = {}, manifest: Manifest = {}): SourceFile[] {
  const folder = place.split('/')[1] ?? ''
  const full: Manifest = {
    name: `@sluice/${folder}`,
    description: 'Does one thing.',
    license: 'MIT',
    engines: { node: NODE },
    ...manifest,
  }
  const all = { 'package.json': JSON.stringify(full), ...files }
  return Object.entries(all).map(([path, text]) => ({ path: `packages/${place}/${path}`, text }))
}

function found(problems: readonly Problem[]) {
  return problems.map(({ path, line, problem }) => `${path.split('/').slice(3).join('/')}:${line ?? ''} ${problem}`)
}

const lists = (...names: string[]): Manifest => ({ dependencies: Object.fromEntries(names.map((name) => [name, '*'])) })

describe('the layer rule', () => {
  const below = [...pack('base/base'), ...pack('core/session'), ...pack('core/tools'), ...pack('policy/retry')]
  const check = (files: SourceFile[]) => found(layerProblems(packagesOf([...below, ...files])))

  it('finds a dependency and an import against the direction', () => {
    const files = pack('core/llm', { 'src/a.ts': "import '@sluice/retry'" }, lists('@sluice/retry', '@sluice/base'))
    expect(check(files)).toEqual([
      'package.json: depends on @sluice/retry: core may not import policy',
      'src/a.ts:1 imports @sluice/retry: core may not import policy',
    ])
  })

  it('finds an import that is not listed, also one of a type and one in an expression', () => {
    const text = "import type { A } from '@sluice/base'\nconst b = await import('@sluice/session/contract')\n"
    expect(check(pack('policy/timeout', { 'src/a.ts': text }))).toEqual([
      'src/a.ts:1 imports @sluice/base, which its package does not list',
      'src/a.ts:2 imports @sluice/session/contract, which its package does not list',
    ])
  })

  it('finds a path that leaves the package', () => {
    expect(check(pack('base/pipeline', { 'src/a.ts': "export { a } from '../../base/src/a.ts'" }))).toEqual([
      'src/a.ts:1 ../../base/src/a.ts leaves the package',
    ])
  })

  it('lets a test import what its package lists for development, and code not', () => {
    const manifest = { devDependencies: { '@sluice/testkit': '*' } }
    const text = "import { simWorld } from '@sluice/testkit'"
    const kit = pack('dev/testkit')
    expect(check([...kit, ...pack('core/fs', { 'test/a.test.ts': text }, manifest)])).toEqual([])
    expect(check([...kit, ...pack('core/fs', { 'src/a.ts': text }, manifest)])).toHaveLength(1)
  })

  it('lets a package of an ordered layer import those before it only', () => {
    const at = (place: string) => ({ layer: place.split('/')[0] ?? '', folder: place.split('/')[1] ?? '' })
    expect(whyNot(at('core/tools'), at('core/session'))).toBeUndefined()
    expect(whyNot(at('core/session'), at('core/tools'))).toContain('stands above')
    expect(whyNot(at('core/session'), at('core/unlisted'))).toContain('no place in the order')
    expect(whyNot(at('policy/a'), at('policy/b'))).toContain('no other of its kind')
    expect(whyNot(at('tool/a'), at('policy/b'))).toContain('may not import')
    expect(whyNot(at('host/cli'), at('policy/b'))).toBeUndefined()
    expect(whyNot(at('core/session'), at('host/cli'))).toContain('may not import')
    expect(whyNot(at('host/cli'), at('dev/testkit'))).toContain('may not import')
    expect(whyNot(at('odd/a'), at('base/base'))).toContain('not in the order')
  })
})

describe('the rule of names', () => {
  const check = (files: SourceFile[]) => found(nameProblems(packagesOf(files), NODE))

  it('finds a synonym of a reserved name and a name that says nothing', () => {
    const files = pack('core/fs', { 'src/error.ts': '', 'src/path-utils.ts': '', 'src/helpers/a.ts': '' })
    expect(check(files)).toEqual([
      'src/error.ts: error.ts is a synonym',
      'src/path-utils.ts: utils says nothing',
      'src/helpers/a.ts: helpers says nothing',
    ])
  })

  it('finds an index that exports everything, holds code, or hides the plugin', () => {
    const index = "export * from './a.ts'\nexport const b = 1\nexport type * from './types.ts'\n"
    expect(check(pack('core/fs', { 'src/index.ts': index, 'src/plugin.ts': '' }))).toEqual([
      'src/index.ts:1 exports everything of a file',
      'src/index.ts:2 an index holds code',
      'src/index.ts: does not export name and apply of plugin.ts',
    ])
    const good = "export { apply, name } from './plugin.ts'"
    expect(check(pack('core/fs', { 'src/index.ts': good, 'src/plugin.ts': '' }))).toEqual([])
  })

  it('finds a manifest with another name, licence or Node, or without a description', () => {
    const manifest = { name: 'fs', description: '', license: 'ISC', engines: { node: '>=18' } }
    expect(check(pack('core/fs', {}, manifest))).toHaveLength(4)
  })
})

describe('the rule of the World', () => {
  const check = (text: string, place = 'core/fs', path = 'src/a.ts') =>
    found(ambientProblems(packagesOf(pack(place, { [path]: text })), []))

  it.each([
    ['const a = Date.now()', 'Date.now'],
    ['const a = new Date()', 'Date.now'],
    ['const a = Math.random()', 'Math.random'],
    ['setTimeout(() => {}, 1)', 'setTimeout'],
    ['globalThis.setTimeout(() => {}, 1)', 'setTimeout'],
    ['const a = process.env.HOME', 'process'],
    ['const a = { fetch }', 'fetch'],
    ["console.log('a')", 'console'],
    ["import { readFile } from 'node:fs/promises'", 'fs/promises'],
    ["import { spawn } from 'child_process'", 'child_process'],
    ["const fs = await import('node:fs')", 'fs'],
    ["import { randomUUID } from 'node:crypto'", 'Math.random'],
    ["import * as crypto from 'node:crypto'\ncrypto.randomBytes(1)", 'Math.random'],
    ['AbortSignal.timeout(5)', 'AbortSignal.timeout'],
  ])('finds the way out in %j', (text, use) => {
    expect(check(text)[0]).toContain(`reaches the outside through ${use}`)
  })

  it.each([
    'const a = world.network.fetch(url)',
    'const a = new Date(0).toISOString()',
    'type A = { process: string; fetch(): void }',
    'const a = { process: 1 }',
    'function f(process: { pid: number }) {\n  return process.pid\n}',
    "import { createHash } from 'node:crypto'\nimport { join } from 'node:path'",
    'const a: typeof fetch = b',
    '// Date.now() is banned\nconst a = "process.env"',
  ])('lets pass %j', (text) => {
    expect(check(text)).toEqual([])
  })

  it('lets adapters, development packages and tests reach out, and the exceptions that are listed', () => {
    expect(check('Date.now()', 'adapter/world-node')).toEqual([])
    expect(check('Date.now()', 'dev/testkit')).toEqual([])
    expect(check('Date.now()', 'core/fs', 'test/a.test.ts')).toEqual([])
    const files = packagesOf(pack('host/cli', { 'src/main.ts': 'process.exit(Math.random())' }))
    const allowed = [{ path: 'packages/host/cli/src/main.ts', uses: ['process'], why: 'a program' }]
    expect(found(ambientProblems(files, allowed))).toEqual(['src/main.ts:1 reaches the outside through Math.random'])
  })
})

describe('the rule of errors', () => {
  const table = (...codes: string[]) => `const e = defineErrors({ ${codes.map((code) => `${code}: {}`).join(', ')} })`

  it('finds a code that no test names, one that is defined twice, and one that is no code', () => {
    const files = pack('core/fs', {
      'src/errors.ts': table('FS_GONE', 'FS_SEEN', 'gone'),
      'src/other.ts': table('FS_SEEN'),
      'test/a.test.ts': "it('is seen', () => expect(code).toBe('FS_SEEN'))",
    })
    expect(found(errorProblems(packagesOf(files), files))).toEqual([
      'src/errors.ts:1 no test provokes FS_GONE',
      'src/errors.ts:1 gone is no code',
      'src/other.ts:1 FS_SEEN is also defined in packages/core/fs/src/errors.ts',
    ])
  })
})

describe('the rule of READMEs', () => {
  const good = [
    '# @sluice/fs',
    '',
    'Does one thing.',
    '',
    '## Use',
    '',
    '```ts',
    'const a = 1',
    '```',
    '',
    '## Promises',
    '',
    '- It works. `works`',
    '- It works for every',
    '  implementation: `works everywhere`',
    '',
    '## Refuses',
    '',
    '- `FS_GONE`: make it again',
    '',
    '## Elsewhere',
    '',
  ].join('\n')

  const check = (readme: string) => {
    const files = pack('core/fs', {
      'README.md': readme,
      'test/a.test.ts': "it('works', () => {})",
      'src/contract.ts': "export const cases = [{ title: 'works everywhere', run() {} }]",
    })
    return found(readmeProblems(packagesOf(files), new Set(['FS_GONE'])))
  }

  it('accepts one that has all parts', () => {
    expect(check(good)).toEqual([])
  })

  it('finds a package without one', () => {
    expect(found(readmeProblems(packagesOf(pack('core/fs')), new Set()))).toEqual(['README.md: is missing'])
  })

  it('finds a first sentence that is not the description', () => {
    expect(check(good.replace('Does one thing.', 'Does two things.'))).toEqual([
      'README.md: starts with "Does two things."',
    ])
  })

  it('finds a promise without a test, and one whose test has another title', () => {
    expect(check(good.replace('It works. `works`', 'It works.'))).toEqual(['README.md: no test proves: It works.'])
    expect(check(good.replace('`works`', '`worked`'))).toEqual(['README.md: there is no test with the title worked'])
  })

  it('finds a code that no error table has', () => {
    expect(check(good.replace('FS_GONE', 'FS_LOST'))).toEqual(['README.md: there is no code FS_LOST'])
  })

  it('finds a missing section, and a use that is missing or too long', () => {
    expect(check(good.replace('## Elsewhere', '## More'))).toEqual(['README.md: has no section Elsewhere'])
    expect(check(good.replace('```ts', '```'))).toEqual(['README.md: shows no use'])
    expect(check(good.replace('const a = 1', 'const a = 1\n'.repeat(16)))).toEqual([
      'README.md: shows a use of 16 lines',
    ])
  })
})
