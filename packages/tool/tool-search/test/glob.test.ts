import { rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LIMIT_DEFAULT } from '@sluice/tool-search'
import { afterEach, expect, test } from 'vitest'
import { type Bench, type Files, makeBench } from './bench.ts'

let bench: Bench
afterEach(() => bench.close())
const open = async (files: Files) => {
  bench = await makeBench(files)
  return bench
}

test('files are found by pattern, newest first, as paths that other tools take', async () => {
  const { glob, cwd } = await open({ 'old.ts': '', 'src/a.ts': '', 'src/deep/b.ts': '', 'src/c.js': '', 'new.ts': '' })
  expect((await glob('**/*.ts')).text).toBe('new.ts\nsrc/deep/b.ts\nsrc/a.ts\nold.ts')
  expect((await glob('*.ts')).value.paths).toEqual(['new.ts', 'old.ts'])
  expect((await glob('src/*')).value.paths).toEqual(['src/c.js', 'src/a.ts'])
  expect((await glob('**/{a,c}.[jt]s')).value.paths).toEqual(['src/c.js', 'src/a.ts'])
  expect((await glob({ pattern: '*.ts', path: 'src' })).value.paths).toEqual(['src/a.ts'])
  expect((await glob({ pattern: '*.ts', path: join(cwd, 'src') })).value.paths).toEqual(['src/a.ts'])
  expect((await glob(join(cwd, 'src', '**'))).value.paths).toEqual(['src/c.js', 'src/deep/b.ts', 'src/a.ts'])
  expect((await glob('./src/../src/*.js')).value.paths).toEqual(['src/c.js'])
  expect((await glob('**/*.py')).text).toBe('No files found.')
})

// BUG-057
test('a path with brackets, braces, parentheses, blanks or stars is found as it is, and can be fed back', async () => {
  const odd = [
    'app/[id]/page.ts',
    'app/(auth)/x.ts',
    'app/{a}/y.ts',
    'a b/-z.ts',
    'w*eird.ts',
    '-dash.ts',
    '!not.ts',
    '*',
  ]
  const { glob, grep } = await open({
    ...Object.fromEntries(odd.map((path) => [path, `text -z of ${path}`])),
    'app/i/page.ts': '',
  })
  expect((await glob('app/[id]/**')).value.paths).toEqual(['app/[id]/page.ts'])
  expect((await glob('**/{a}/*.ts')).value.paths).toEqual(['app/{a}/y.ts'])
  expect((await glob('**/(auth)/*.ts')).value.paths).toEqual(['app/(auth)/x.ts'])
  expect((await glob('app/*/page.ts')).value.paths).toEqual(['app/i/page.ts', 'app/[id]/page.ts'])
  for (const path of odd) {
    expect((await glob(path)).value.paths).toEqual([path])
    expect((await grep({ pattern: '-z of', path })).value.files.map((file) => file.path)).toEqual([path])
  }
  const all = (await glob('**')).value.paths
  expect([...all].sort()).toEqual([...odd, 'app/i/page.ts'].sort())
})

test('a pattern that is a folder means all files in it', async () => {
  const { glob } = await open({ 'src/a.ts': '', 'src/b/c.ts': '' })
  expect((await glob('src')).value.paths).toEqual(['src/b/c.ts', 'src/a.ts'])
  expect((await glob('src/b/')).value.paths).toEqual(['src/b/c.ts'])
})

test('ignored files are left out unless asked for, hidden ones are not, and .git never shows', async () => {
  const { glob } = await open({
    '.gitignore': 'out/\n*.log\n',
    'out/a.js': '',
    'a.log': '',
    '.github/ci.yml': '',
    '.git/config': '',
    'sub/.ignore': 'private\n',
    'sub/private': '',
  })
  expect((await glob('**')).value.paths).toEqual(['sub/.ignore', '.github/ci.yml', '.gitignore'])
  expect((await glob('**/*.log')).value.paths).toEqual([])
  const all = (await glob({ pattern: '**', includeIgnored: true })).value.paths
  expect(all).toEqual(['sub/private', 'sub/.ignore', '.github/ci.yml', 'a.log', 'out/a.js', '.gitignore'])
})

test('a long list is cut and says how much is missing', async () => {
  const many = Object.fromEntries(Array.from({ length: LIMIT_DEFAULT + 7 }, (_, index) => [`f${index}`, '']))
  const { glob } = await open(many)
  const first = await glob('*')
  expect(first.value.paths).toHaveLength(LIMIT_DEFAULT)
  expect(first.text).toMatch(/\n\[7 more files; narrow the search or raise limit to see them\]$/)
  expect((await glob({ pattern: '*', limit: 2 })).value).toMatchObject({
    paths: [`f${LIMIT_DEFAULT + 6}`, `f${LIMIT_DEFAULT + 5}`],
    more: LIMIT_DEFAULT + 5,
  })
})

test('links are not followed out of the workspace, nor inside it', async () => {
  const { glob, grep, cwd, outside } = await open({ 'inside/a.txt': 'here' })
  await writeFile(join(outside, 'secret.txt'), 'here')
  await symlink(outside, join(cwd, 'out'))
  await symlink(join(outside, 'secret.txt'), join(cwd, 'link.txt'))
  await symlink(cwd, join(cwd, 'inside', 'circle'))
  expect((await glob('**')).value.paths).toEqual(['inside/a.txt'])
  expect((await grep('here')).value.files.map((file) => file.path)).toEqual(['inside/a.txt'])
})

test('what a check refuses to read is neither shown nor searched', async () => {
  const { ctx, glob, grep, cwd, outside } = await open({ '.env': 'KEY=1', 'a.txt': 'KEY=2', 'keys/id.pem': 'KEY=3' })
  await symlink(outside, join(cwd, 'up'))
  await ctx.plugin({
    name: 'secrets',
    inject: ['fs'],
    apply(own) {
      own.fs.restrict('secrets', ({ path }) => {
        if (/\.env$|\.pem$/.test(path)) return { code: 'SECRET', reason: 'it holds secrets' }
        return path.startsWith(cwd) ? undefined : { code: 'OUTSIDE', reason: 'it is outside' }
      })
    },
  })
  const all = await glob('**')
  expect(all.value).toMatchObject({ paths: ['a.txt'], withheld: 2 })
  expect(all.text).toContain('[2 matching files may not be read and are not shown]')
  const found = await grep('KEY')
  expect(found.value.files.map((file) => file.path)).toEqual(['a.txt'])
  expect(found.text).not.toMatch(/KEY=[13]/)
  for (const path of ['..', outside, 'up', '.env']) {
    expect((await grep({ pattern: 'KEY', path })).outcome).toMatchObject({ tag: 'failed', code: 'FS_REFUSED' })
    expect((await glob({ pattern: '*', path })).outcome).toMatchObject({ tag: 'failed', code: 'FS_REFUSED' })
    expect((await glob(`${path}/*`)).outcome).toMatchObject({ tag: 'failed', code: 'FS_REFUSED' })
  }
})

// files.md 10
test('a search tells nothing of what may not be read, not even whether it matches', async () => {
  const { ctx, grep } = await open({ '.env': 'KEY=1', 'a.txt': 'KEY' })
  await ctx.plugin({
    name: 'secrets',
    inject: ['fs'],
    apply: (own) =>
      void own.fs.restrict('secrets', ({ path }) =>
        path.endsWith('.env') ? { code: 'SECRET', reason: 'it holds secrets' } : undefined,
      ),
  })
  for (const more of [{ glob: '.env' }, { limit: 1 }, { output: 'files', limit: 1 }, { output: 'count' }]) {
    const [hit, miss] = [await grep({ pattern: 'KEY$|Y=1', ...more }), await grep({ pattern: 'KEY$|Y=2', ...more })]
    expect(hit.value).toEqual(miss.value)
  }
})

// files.md 10
test.each([
  ['when there are few matches', 1],
  ['when there are many', 5_000],
])('what a link leads to that replaces a file during a search is not shown %s', async (_, lines) => {
  const others = Array.from({ length: 6 }, (__, i) => [`b${i}`, lines > 1 ? 'KEY\n'.repeat(lines) : ''])
  const { ctx, grep, cwd, outside } = await open({ ...Object.fromEntries(others), 'a.txt': 'KEY of mine' })
  await writeFile(join(outside, 'secret.txt'), 'KEY of others')
  let asked = 0
  await ctx.plugin({
    name: 'swap',
    inject: ['fs'],
    apply: (own) =>
      void own.fs.restrict('swap', async ({ path }) => {
        if (!path.endsWith('a.txt') || ++asked > 1) return undefined
        await rm(join(cwd, 'a.txt'))
        await symlink(join(outside, 'secret.txt'), join(cwd, 'a.txt'))
        return undefined
      }),
  })
  const { text, value } = await grep({ pattern: 'KEY', limit: 1_000 })
  expect(asked).toBeGreaterThan(0)
  // What was read before the swap is of the workspace; what is read after it would not be.
  expect(value.files.some(({ path }) => path === 'a.txt')).toBe(lines === 1)
  expect(text).not.toContain('others')
})

test('an absolute pattern is asked about where it leads, not on the way there', async () => {
  const { ctx, glob, cwd, outside } = await open({ 'src/a.ts': '' })
  await ctx.plugin({
    name: 'inside',
    inject: ['fs'],
    apply: (own) =>
      void own.fs.restrict('inside', ({ path }) =>
        path.startsWith(cwd) ? undefined : { code: 'OUTSIDE', reason: 'it is outside' },
      ),
  })
  expect((await glob(join(cwd, '**/*.ts'))).value.paths).toEqual(['src/a.ts'])
  expect((await glob(join(cwd, 'src/a.ts'))).value.paths).toEqual(['src/a.ts'])
  for (const pattern of ['/**', join(outside, '*'), join(cwd, '../*')]) {
    expect((await glob(pattern)).outcome).toMatchObject({ tag: 'failed', code: 'FS_REFUSED' })
  }
})

test('a file has nothing below it', async () => {
  const { glob } = await open({ 'a.ts': '' })
  expect((await glob('a.ts/*')).text).toBe('No files found.')
})

test('names that are not UTF-8 are counted, not mangled', async () => {
  const { glob, grep, cwd } = await open({ 'a.txt': 'x' })
  await writeFile(Buffer.concat([Buffer.from(`${cwd}/b`), Buffer.from([0xff]), Buffer.from('.txt')]), 'x')
  expect((await grep('x')).value).toMatchObject({ hits: 1, withheld: 1 })
  expect((await glob('*.txt')).value.paths).toEqual(['a.txt'])
})

test('a place that does not exist is said to be missing', async () => {
  const { glob, grep } = await open({})
  for (const result of [await glob({ pattern: '*', path: 'no' }), await grep({ pattern: 'a', path: 'no' })]) {
    expect(result.outcome).toMatchObject({ tag: 'failed', code: 'SEARCH_PATH_MISSING' })
    expect(result.text).toBe('There is nothing at no.')
  }
})

test('what the model reads of the tools is this', async () => {
  const { ctx } = await open({})
  const [glob, grep] = ctx.tools.visible()
  expect([glob?.name, glob?.description, grep?.name, grep?.description]).toMatchInlineSnapshot(`
    [
      "glob",
      "Finds files by the pattern of their path: * within a name, ** across folders, ? one character, [ab], {a,b}. A pattern that is the path of something that exists means just that, whatever characters it holds. Files that ignore files exclude are left out unless includeIgnored is true; .git always is. Links are not followed. Newest files come first.",
      "grep",
      "Searches the content of files with a regular expression (ripgrep), or for plain text with literal. Binary files, and files that may not be read, are left out. Files that ignore files exclude are left out unless includeIgnored is true; .git always is. Links are not followed. Newest files come first.",
    ]
  `)
  expect([glob?.parameters, grep?.parameters]).toMatchSnapshot()
  for (const tool of [glob, grep]) {
    expect(tool).toMatchObject({ annotations: { readOnly: true, idempotent: true }, overlap: 'parallel' })
  }
  expect([glob?.aliases, grep?.aliases]).toEqual([['Glob'], ['Grep']])
})

test('unloading the plugin takes both tools away', async () => {
  const { ctx, fiber } = await open({})
  await fiber.dispose()
  expect(ctx.tools.visible()).toEqual([])
})
