import type { ToolResultData } from '@sluice/session'
import { type SimWorld, turn } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { jsonlStore } from '../src/index.ts'
import { DIR, machineWith, mount } from './kit.ts'

const result: ToolResultData = {
  callId: 'a',
  tool: 'probe',
  outcome: { tag: 'succeeded', executed: 'yes' },
  content: [{ type: 'text', text: 'short' }],
  value: 'x'.repeat(100_000),
  card: { v: 1, kind: 'generic', title: 'probe' },
}

test('an event whose value could not be stored is not durable until it is', async () => {
  const world = await machineWith(1)
  const session = await (await mount(world)).sessions.open('s')
  await session.durable()
  world.disk.failNext('sync', 'EIO')
  const event = session.append('tool/result', result)
  await expect(session.durable()).rejects.toMatchObject({ code: 'SESSION_NOT_DURABLE' })
  await session.durable()
  const { blob } = event.data.valueBlob!
  const after = await (await mount(world.reboot({ keep: 'none' }))).sessions.open('s')
  expect((await after.getBlob(blob))?.length).toBe(blob.size)
})

test('a fork on disk shares blobs with its parent and leaves its bytes unchanged', async () => {
  const world = await machineWith(1)
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  session.append('turn/started', { turn: 1 })
  session.append('tool/result', result)
  session.append('turn/ended', { turn: 1, reason: 'completed' })
  await session.close()
  const before = world.disk.tree(`${DIR}/s`)
  const child = await sessions.fork('s', { id: 'child' })
  child.append('turn/started', { turn: 2 })
  await child.close()
  expect(world.disk.tree(`${DIR}/s`)).toEqual(before)
  const [name] = Object.keys(before).filter((path) => path.includes('/blobs/'))
  expect((await world.disk.stat(String(name))).links).toBe(2)
})

test('a blob that comes in pieces leaves nothing when the disk is full, and no half after a crash', async () => {
  const world = await machineWith(1)
  const session = await (await mount(world)).sessions.open('s')
  let go!: () => void
  const stopped = new Promise<void>((resolve) => {
    go = resolve
  })
  const pieces = async function* (wait?: Promise<void>) {
    yield Buffer.from('one ')
    await wait
    yield Buffer.from('two')
  }
  const temporary = ({ disk }: SimWorld) => Object.keys(disk.tree(DIR)).filter((path) => path.endsWith('.tmp'))
  const info = { mediaType: 'text/plain' }
  await session.durable()
  world.disk.failNext('write', 'ENOSPC')
  await expect(session.putBlob(pieces(), info)).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' })
  expect(temporary(world)).toEqual([])
  const coming = session.putBlob(pieces(stopped), info)
  while (temporary(world).length === 0) await turn()
  const rebooted = world.reboot({ keep: 'all' })
  const after = await (await mount(rebooted)).sessions.open('s')
  expect(temporary(rebooted)).toEqual([])
  expect(await after.putBlob(pieces(), info)).toMatchObject({ size: 7 })
  go()
  await coming.catch(() => {})
})

test('a digest from outside that is none touches no file', async () => {
  const world = await machineWith(1)
  world.disk.plant({ '/proj/sessions/secret': { content: 'x', mode: 0 } })
  const store = jsonlStore(world, DIR)
  const { log } = await store.open('s', 'write')
  const before = world.disk.tree('/proj')
  for (const digest of ['../../secret', '../events.jsonl', '..', '', 'constructor']) {
    expect(await log.getBlob(digest)).toBeUndefined()
    expect(await log.shareBlob('s', digest)).toBe(false)
  }
  expect(world.disk.tree('/proj')).toEqual(before)
})

test('a fork copies blobs where the disk has no hard links', async () => {
  const world = await machineWith(1)
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  session.append('turn/started', { turn: 1 })
  const event = session.append('tool/result', result)
  session.append('turn/ended', { turn: 1, reason: 'completed' })
  await session.close()
  const child = await sessions.fork('s', { id: 'child' })
  await child.close()
  const { digest, size } = event.data.valueBlob!.blob
  await world.disk.unlink(`${DIR}/child/blobs/${digest}`)
  world.disk.failNext('link', 'EPERM', { path: `${DIR}/s/blobs/${digest}` })
  const { log } = await jsonlStore(world, DIR).open('child', 'write')
  expect(await log.shareBlob('s', digest)).toBe(true)
  expect((await log.getBlob(digest))?.length).toBe(size)
})

// 3.5
test('a scan names blobs that are missing or damaged, by the line that told of them', async () => {
  const world = await machineWith(1)
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  const store = (text: string) => session.putBlob(Buffer.from(text), { mediaType: 'text/plain' })
  const blobs = [await store('whole'), await store('gone'), await store('other'), await store('no file')]
  const [, gone, other, noFile] = blobs.map(({ digest }) => `${DIR}/s/blobs/${digest}`) as [
    string,
    string,
    string,
    string,
  ]
  await session.close()
  expect(await sessions.scan('s', () => {})).toEqual([])
  await world.disk.unlink(gone)
  world.disk.plant({ [other]: { content: 'OTHER', mode: 0o600 } })
  await world.disk.unlink(noFile)
  await world.disk.mkdir(noFile)
  expect((await sessions.scan('s', () => {})).map(({ kind, line }) => [kind, line])).toEqual([
    ['missing-blob', 5],
    ['bad-blob', 6],
    ['bad-blob', 7],
  ])
})

test('a damaged blob is mended when its bytes are stored again', async () => {
  const world = await machineWith(1)
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  const ref = await session.putBlob(Buffer.from('bytes'), { mediaType: 'text/plain' })
  await session.close()
  world.disk.plant({ [`${DIR}/s/blobs/${ref.digest}`]: { content: 'BYTES', mode: 0o600 } })
  const again = await sessions.open('s')
  expect(await again.getBlob(ref)).toBeUndefined()
  await again.putBlob(Buffer.from('bytes'), { mediaType: 'text/plain' })
  expect(Buffer.from((await again.getBlob(ref)) ?? []).toString()).toBe('bytes')
})
