import type { FileSeed, SimWorld } from '@sluice/testkit'
import { describe, expect, test } from 'vitest'
import { logOf, machine, record, SESSIONS, sluice } from './recorded.ts'

const commands: readonly (readonly string[])[] = [
  ['session', 'show', 's'],
  ['session', 'verify', 's'],
  ['session', 'export', 's'],
  ['session', 'repair', 's'],
  ['session', 'fork', 's'],
  ['undo', 's'],
  ['undo', 's', 'c1'],
]

async function standing(seed: FileSeed): Promise<SimWorld> {
  const world = machine()
  await record(world, 's')
  await world.disk.unlink(logOf('s'))
  world.disk.plant({ [logOf('s')]: seed })
  return world
}

const newer = JSON.stringify({ seq: 0, at: 1, type: 'session/started', data: { format: 2, id: 's', cwd: '/' } })

describe('what stands in place of a log', () => {
  test.each<[string, FileSeed, string]>([
    ['a log of a newer format', `${newer}\n`, 'has format 2, newer than this version reads'],
    ['an empty file', '', 'it is empty'],
    ['a file of something else', 'hello\n', 'it holds no readable event'],
    ['a directory', null, 'it is a directory'],
    ['a FIFO', { kind: 'fifo' }, 'it is a fifo'],
    ['a socket', { kind: 'socket' }, 'it is a'],
    ['a link to somewhere else', { link: '/proj/elsewhere' }, 'it is a symlink'],
    ['a file without permission', { content: 'x', mode: 0 }, 'cannot be read (EACCES)'],
  ])('%s is refused by every command on one line with its place, and list marks it', async (_, seed, why) => {
    const world = await standing(seed)
    const before = world.disk.tree()
    for (const argv of commands) {
      const { code, out, err } = await sluice(world, argv)
      const [line = '', ...rest] = err.split('\n')
      expect([code, out], argv.join(' ')).toEqual([1, ''])
      expect(line).toMatch(/^error: .* \((SESSION_(NEWER_FORMAT|NOT_A_LOG)|STORE_UNREADABLE)\)$/)
      for (const part of [why, logOf('s')]) expect(line, argv.join(' ')).toContain(part)
      expect(
        rest.every((text) => /^( {2}(→|because:) .*)?$/.test(text)),
        err,
      ).toBe(true)
    }
    expect((await sluice(world, ['session', 'list'])).out).toMatch(/^s {2}! /)
    expect(world.disk.tree()).toEqual(before)
    const deleted = await sluice(world, ['session', 'delete', 's', '--yes'])
    expect([deleted.code, world.disk.tree(SESSIONS)]).toEqual([0, {}])
  })

  test('a folder of sessions that may not be read is named', async () => {
    const world = machine()
    world.disk.plant({ [SESSIONS]: { directory: true, mode: 0 } })
    for (const argv of [
      ['session', 'list'],
      ['session', 'show', 's'],
      ['session', 'prune', '--older-than', '1d'],
    ]) {
      const { code, err } = await sluice(world, argv)
      expect([code, /STORE_UNREADABLE/.test(err), err.includes(SESSIONS)], argv.join(' ')).toEqual([1, true, true])
    }
  })
})

describe('a disk that takes nothing', () => {
  test.each(['EROFS', 'ENOSPC'])('%s is told with the place, and what was there stays', async (code) => {
    const world = machine()
    await record(world, 's')
    const before = world.disk.tree()
    if (code === 'EROFS') world.disk.setReadOnly(true)
    else world.disk.limit((world.disk.text(logOf('s'))?.length ?? 0) + 20)
    for (const argv of [
      ['session', 'fork', 's'],
      ['session', 'repair', 's'],
      ['session', 'export', 's', '--output', 'out.md'],
    ]) {
      const ended = await sluice(world, argv)
      expect([ended.code, ended.out], argv.join(' ')).toEqual([1, ''])
      expect(ended.err).toContain(` cannot be written (${code}) (`)
      expect(ended.err).toMatch(/^error: .*\/proj\/.* \((STORE_UNWRITABLE|CLI_FILE_UNWRITABLE|SESSION_NOT_DURABLE)\)\n/)
    }
    expect(world.disk.tree()).toEqual(before)
    for (const command of ['show', 'verify', 'export']) {
      expect((await sluice(world, ['session', command, 's'])).code, command).toBe(0)
    }
    const deleted = await sluice(world, ['session', 'delete', 's', '--yes'])
    expect([deleted.code, deleted.err.includes('(EROFS)')]).toEqual(code === 'EROFS' ? [1, true] : [0, false])
  })
})
