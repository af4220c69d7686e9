import { expect, test } from 'vitest'
import { jsonlStore } from '../src/index.ts'
import { DIR, LOG, linesOf, machineWith, mount, texts, withLog } from './kit.ts'

// session-log.md 4.1
test('an event that stands too late is named as that, and shown in its place', async () => {
  const world = await machineWith(9)
  const lines = linesOf(world)
  lines.splice(2, 3, ...lines.slice(2, 5).reverse())
  lines.splice(8, 2, ...lines.slice(8, 10).reverse())
  withLog(world, `${lines.join('\n')}\n`)
  const session = await (await mount(world)).sessions.open('s')
  expect(session.findings.map(({ kind, line, detail }) => `${line} ${kind}: ${detail}`)).toEqual([
    '4 misplaced: event 3 stands here, after event 4',
    '5 misplaced: event 2 stands here, after event 4',
    '10 misplaced: event 8 stands here, after event 9',
  ])
  expect(texts(session).map((text) => Number(text.slice(8)))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(session.writable).toBe(false)
  const [summary] = await jsonlStore(world, DIR).list()
  expect(summary?.damage).toEqual(session.findings[0])
})

// session-log.md 3.2, 4.1
test('lines that end in CR LF are named as that, shown, and written to by nobody', async () => {
  const world = await machineWith(9)
  const lines = linesOf(world).map((line, index) => (index === 4 ? line : `${line}\r`))
  withLog(world, `${lines.join('\n')}\n`)
  const session = await (await mount(world)).sessions.open('s')
  expect(session.findings).toEqual([
    { kind: 'line-end', line: 1, detail: 'lines 1 to 4 end in CR LF' },
    { kind: 'line-end', line: 6, detail: 'lines 6 to 10 end in CR LF' },
  ])
  expect(texts(session)).toHaveLength(9)
  expect(session.writable).toBe(false)
  const [summary] = await jsonlStore(world, DIR).list()
  expect(summary).toMatchObject({ last: { seq: 9 }, damage: session.findings[0] })
})

test('repair puts events that stand too late in their place, and ends each line in LF', async () => {
  const world = await machineWith(9)
  const before = world.disk.text(LOG)
  const { sessions } = await mount(world)
  const lines = linesOf(world)
  lines.splice(8, 2, ...lines.slice(8, 10).reverse())
  lines.push(lines.splice(2, 1)[0] ?? '')
  for (const damage of [`${lines.join('\n')}\n`, (before ?? '').replaceAll('\n', '\r\n')]) {
    withLog(world, damage)
    const { lost, backup } = await sessions.repair('s')
    expect(lost).toBe(0)
    expect(world.disk.text(String(backup))).toBe(damage)
    expect(world.disk.text(LOG)).toBe(before)
  }
})

// session-log.md 4.2: a list reads the end of a long log, which alone would look as if the event stood there twice.
test('a list tells the same of a long log as opening it: an event that stands late is not there twice', async () => {
  const world = await machineWith(600)
  const lines = linesOf(world)
  const late = lines[5] ?? ''
  lines[5] = late.replace('message', 'massage')
  withLog(world, `${[...lines, late].join('\n')}\n`)
  const [summary] = await jsonlStore(world, DIR).list()
  const { findings } = await (await mount(world)).sessions.open('s', 'read')
  expect(findings.map(({ kind, line }) => `${kind} ${line}`)).toEqual(['bad-crc 6', 'misplaced 602'])
  expect(summary?.damage).toEqual(findings[0])
})
