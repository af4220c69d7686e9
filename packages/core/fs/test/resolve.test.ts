import { expect, test } from 'vitest'
import { simWorld } from '@sluice/testkit'
import { mounted, setup } from './setup.ts'

const files = {
  '/proj/a/f.txt': 'f',
  '/proj/link': { link: 'a/f.txt' },
  '/proj/dir': { link: '/proj/a' },
  '/out/secret.txt': 's',
  '/proj/l': { link: '/out' },
  '/proj/dangling': { link: '/out/new.txt' },
  '/proj/round': { link: 'round' },
} as const

test('every spelling of one file is one target', async () => {
  const { ctx, session } = await setup({ files })
  const all = ['a/f.txt', './a//f.txt', 'link', 'dir/f.txt', '/proj/dir/../a/f.txt', 'a/missing/../f.txt']
  const targets = await Promise.all(all.map((path) => ctx.fs.resolve(path, session)))
  expect(new Set(targets.map((target) => target.path))).toEqual(new Set(['/proj/a/f.txt']))
  expect(new Set(targets.map((target) => target.key)).size).toBe(1)
})

test('dot-dot is taken against the real directory, not the spelling', async () => {
  const { ctx, session } = await setup({ files })
  expect((await ctx.fs.resolve('l/../out/secret.txt', session)).path).toBe('/out/secret.txt')
  expect((await ctx.fs.resolve('l/../proj', session)).path).toBe('/proj')
})

test('a dangling link leads to where it points', async () => {
  const { ctx, session } = await setup({ files })
  expect(await ctx.fs.resolve('dangling', session)).toMatchObject({ path: '/out/new.txt', exists: false })
})

test('what does not exist is its deepest real ancestor and the rest', async () => {
  const { ctx, session } = await setup({ files })
  expect(await ctx.fs.resolve('dir/x/y.txt', session)).toMatchObject({ path: '/proj/a/x/y.txt', exists: false })
  expect(await ctx.fs.resolve('a/f.txt/below', session)).toMatchObject({ path: '/proj/a/f.txt/below', exists: false })
})

// BUG-033
test('on a volume that folds names, letter case and Unicode form make no other file', async () => {
  const { ctx, session } = await setup({ naming: 'folding', files: { '/proj/R\u00E9sum\u00E9.txt': 'r' } })
  const [as, upper, decomposed] = await Promise.all(
    ['R\u00E9sum\u00E9.txt', 'R\u00C9SUM\u00C9.TXT', 'Re\u0301sume\u0301.txt'].map((path) =>
      ctx.fs.resolve(path, session),
    ),
  )
  expect(upper?.key).toBe(as?.key)
  expect(decomposed?.key).toBe(as?.key)
  expect(upper?.folded).toBe(true)
  const [absent, absentUpper] = await Promise.all(['new.txt', 'NEW.txt'].map((path) => ctx.fs.resolve(path, session)))
  expect(absentUpper?.key).toBe(absent?.key)
})

// BUG-033
test('on a volume that tells names apart, another letter case is another file', async () => {
  const { ctx, session } = await setup({ files: { '/proj/.env': 'e', '/proj/.ENV': 'E' } })
  const [lower, upper] = await Promise.all(['.env', '.ENV'].map((path) => ctx.fs.resolve(path, session)))
  expect(lower?.key).not.toBe(upper?.key)
  expect(lower?.folded).toBe(false)
})

test('a volume that tells letter case apart may still take two Unicode forms as one', async () => {
  const real = simWorld({ files: { '/proj/\u00E9': 'e', '/proj/\u00C9': 'E' } })
  const composing = (member: unknown) =>
    typeof member === 'function'
      ? (path: string, ...rest: unknown[]) =>
          Reflect.apply(member, real.disk, [path.normalize('NFC'), ...rest]) as unknown
      : member
  const disk = new Proxy(real.disk, { get: (target, key) => composing(Reflect.get(target, key)) })
  const ctx = await mounted({ ...real, disk })
  const session = await ctx.sessions.create({ cwd: '/proj' })
  expect(await ctx.fs.resolve('e\u0301', session)).toMatchObject({ folded: true, exists: true })
})

test('a hard link with an upper-case name does not make a volume fold', async () => {
  const files = { '/proj/makefile': 'm', '/proj/MAKEFILE': { hardLink: '/proj/makefile' } } as const
  const { ctx, session } = await setup({ files })
  expect((await ctx.fs.resolve('makefile', session)).folded).toBe(false)
})

test.each([
  ['', 'is empty'],
  ['a\0b', 'holds a NUL'],
  ['x'.repeat(5000), 'is too long'],
  ['a\uD800', 'is not well-formed Unicode'],
  ['round', 'goes round in a circle of links'],
])('the path %j is refused and says why', async (path, problem) => {
  const { ctx, session } = await setup({ files })
  await expect(ctx.fs.resolve(path, session)).rejects.toMatchObject({ code: 'FS_PATH_INVALID', data: { problem } })
})

// BUG-057, BUG-077
test('odd characters in a path are taken literally', async () => {
  const names = [
    'app/[id]/page.ts',
    'app/(auth)/x.ts',
    'app/{a}/y.ts',
    'a b/-z.ts',
    'w*eird.ts',
    'a.constructor',
    'b.__proto__',
  ]
  const { ctx, call } = await setup({
    files: Object.fromEntries(names.map((name) => [`/proj/${name}`, `text of ${name}`])),
  })
  for (const name of names) expect((await ctx.fs.read(name, {}, call())).lines).toEqual([`text of ${name}`])
})
