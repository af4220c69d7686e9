import { expect, test } from 'vitest'
import { observationOf, observations, versionOf } from '../src/index.ts'
import { type Setup, setup } from './setup.ts'

const ten = Array.from({ length: 10 }, (_, i) => `${i + 1}\n`).join('')

async function seen({ ctx, session }: Setup, path: string) {
  return observationOf(session.fold(observations), await ctx.fs.resolve(path, session))
}

test('windows of one version add up to the whole file', async () => {
  const all = await setup({ files: { '/proj/f': ten } })
  await all.ctx.fs.read('f', { limit: 4 }, all.call())
  expect(await seen(all, 'f')).toMatchObject({ seen: [{ from: 1, to: 4 }] })
  await all.ctx.fs.read('f', { offset: 8 }, all.call())
  expect((await seen(all, 'f'))?.seen).toEqual([
    { from: 1, to: 4 },
    { from: 8, to: 10 },
  ])
  await all.ctx.fs.read('f', { offset: 5, limit: 3 }, all.call())
  expect(await seen(all, 'f')).toMatchObject({ seen: 'whole' })
})

test('a line that was cut was not seen', async () => {
  const all = await setup({ files: { '/proj/f': `a\n${'x'.repeat(5000)}\nb\n` } })
  await all.ctx.fs.read('f', {}, all.call())
  expect(await seen(all, 'f')).toMatchObject({
    seen: [
      { from: 1, to: 1 },
      { from: 3, to: 3 },
    ],
  })
})

test('a new version starts anew, and reading a part of what is known whole keeps it whole', async () => {
  const all = await setup({ files: { '/proj/f': ten } })
  await all.ctx.fs.read('f', {}, all.call())
  await all.ctx.fs.read('f', { limit: 1 }, all.call())
  expect(await seen(all, 'f')).toMatchObject({ seen: 'whole' })
  all.world.disk.plant({ '/proj/f': `${ten}11\n` })
  await all.ctx.fs.read('f', { limit: 1 }, all.call())
  expect(await seen(all, 'f')).toMatchObject({ seen: [{ from: 1, to: 1 }] })
})

test('compaction keeps which version was seen and drops what was shown', async () => {
  const all = await setup({ files: { '/proj/f': ten, '/proj/g': ten } })
  await all.ctx.fs.read('f', {}, all.call())
  const upTo = all.session.events.length - 1
  await all.ctx.fs.read('g', {}, all.call())
  all.session.append('compaction/done', { upTo, summary: 's' })
  expect(await seen(all, 'f')).toMatchObject({ seen: [], version: versionOf(Buffer.from(ten)) })
  expect(await seen(all, 'g')).toMatchObject({ seen: 'whole' })
})

test('a file under another name counts as seen while its content is the seen one', async () => {
  const all = await setup({ files: { '/proj/f': ten, '/proj/h': { hardLink: '/proj/f' } } })
  const { version } = await all.ctx.fs.read('f', {}, all.call())
  const target = await all.ctx.fs.resolve('h', all.session)
  const state = all.session.fold(observations)
  expect(observationOf(state, target, version)?.path).toBe('/proj/f')
  expect(observationOf(state, target, versionOf(Buffer.from('other')))).toBeUndefined()
})

// BUG-033
test('on a volume that folds names, a file read under one spelling was seen under every other', async () => {
  const all = await setup({ naming: 'folding', files: { '/proj/A.txt': ten } })
  await all.ctx.fs.read('A.txt', {}, all.call())
  await all.ctx.fs.edit('a.txt', [{ oldText: '10', newText: 'ten' }], all.call())
  expect(await seen(all, 'A.TXT')).toMatchObject({ seen: 'whole' })
})
