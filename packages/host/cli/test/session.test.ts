import { execFileSync } from 'node:child_process'
import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { calls, place, tool, watchedTerminal } from './harness.ts'

const moment = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d'

async function recorded() {
  const p = await place({ steps: [calls('look'), 'All fine.'], tools: [tool('look', () => 'seen')] })
  const t = watchedTerminal(p.folder)
  await p.sluice(t, 'run', '--composition', p.composition, '--model', 'sim/one', 'look around')
  const sessions = join(p.folder, 'data', 'sluice', 'sessions')
  const [id] = await readdir(sessions)
  return { p, id: id ?? '', folder: join(sessions, id ?? '') }
}

describe('sluice session', () => {
  test('show prints prompts, answers and calls; it takes the log file, its folder or the id', async () => {
    const { p, id, folder } = await recorded()
    const outs: string[] = []
    for (const given of [join(folder, 'events.jsonl'), folder, id]) {
      const t = watchedTerminal(p.folder)
      expect(await p.sluice(t, 'session', 'show', given)).toBe(0)
      outs.push(t.out)
    }
    expect(new Set(outs).size).toBe(1)
    expect(outs[0]).toContain(`session ${id} in ${p.folder}`)
    expect(outs[0]).toContain('\n> look around\n')
    expect(outs[0]).toMatch(/⊘ look {2}\(denied by approval/)
    expect(outs[0]).toContain('All fine.')
  })

  test('show says where a damaged log is damaged, and exits with 1', async () => {
    const { p, folder } = await recorded()
    await appendFile(join(folder, 'events.jsonl'), 'garbage in the middle\n{"also":"garbage"}\n')
    const t = watchedTerminal(p.folder)
    expect(await p.sluice(t, 'session', 'show', folder)).toBe(1)
    expect(t.out).toContain('All fine.')
    expect(t.err).toMatch(/^line \d+: /)
  })

  test('show refuses what is no session', async () => {
    const p = await place()
    await writeFile(join(p.folder, 'notes.txt'), 'hi')
    for (const given of ['./nowhere/events.jsonl', './notes.txt']) {
      const t = watchedTerminal(p.folder)
      expect(await p.sluice(t, 'session', 'show', given)).toBe(1)
      expect(t.err).toContain('CLI_NOT_A_SESSION')
    }
    const t = watchedTerminal(p.folder)
    expect(await p.sluice(t, 'session', 'show', 'nosuchid')).toBe(1)
    expect(t.err).toContain('CLI_SESSION_UNKNOWN')
  })

  test('list prints id, start, last event and working folder of each session', async () => {
    const { p, id } = await recorded()
    const t = watchedTerminal(p.folder)
    expect(await p.sluice(t, 'session', 'list')).toBe(0)
    expect(t.out).toMatch(new RegExp(`^${id}  ${moment}  last event \\d+ at ${moment}  ${p.folder}\n$`))
  })

  test('on a real disk a session is forked, repaired, exported, deleted, and nothing that is no log is waited for', async () => {
    const { p, id, folder } = await recorded()
    const run = async (...argv: string[]) => {
      const t = watchedTerminal(p.folder)
      return { code: await p.sluice(t, ...argv), out: t.out, err: t.err }
    }
    const child = (await run('session', 'fork', id)).out.trim()
    await appendFile(join(folder, 'events.jsonl'), 'garbage\n')
    expect((await run('session', 'verify', id)).code).toBe(1)
    const { out } = await run('session', 'repair', id)
    expect(await readFile(/was: (\S+)/.exec(out)?.[1] ?? '', 'utf8')).toContain('garbage')
    expect((await run('session', 'verify', id)).code).toBe(0)
    const exportTo = ['session', 'export', child, '--output', 'out.md']
    expect((await run(...exportTo)).code).toBe(0)
    expect(await readFile(join(p.folder, 'out.md'), 'utf8')).toContain('All fine.')
    expect((await run(...exportTo)).code).toBe(1)
    expect((await run('session', 'delete', id, '--yes')).code).toBe(0)
    expect(await readdir(join(folder, '..'))).toEqual([child])
    const log = join(folder, '..', child, 'events.jsonl')
    await rm(log)
    execFileSync('mkfifo', [log])
    for (const command of ['show', 'verify', 'export', 'fork', 'repair']) {
      expect((await run('session', command, child)).err, command).toContain('SESSION_NOT_A_LOG')
    }
    expect((await run('session', 'list')).out).toMatch(new RegExp(`^${child}  ! `))
    expect((await run('session', 'delete', child, '--yes')).code).toBe(0)
  })
})
