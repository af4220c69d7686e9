/** Owns the cases of the contract about processes: how they start, end and are ended, and what they leave. */
import assert from 'node:assert/strict'
import { posix } from 'node:path'
import type { SpawnOptions } from '@sluice/base'
import {
  PATH,
  bash,
  confined,
  ended,
  inside,
  pipe,
  run,
  unconfined,
  untilNot,
  type SandboxCase,
} from './contract-subject.ts'

/** Leaves group and session, ignores TERM, and holds the pipe until it is killed. */
const LEFT = `setsid bash -c 'trap "" TERM; exec 7>pipe; echo here >&7; [ -p up ] && echo > up; exec sleep 1000 >&7' & wait`

export const processCases: readonly SandboxCase[] = [
  {
    title: 'input, output, exit code and missing programs are those of a start without confinement',
    async run(subject) {
      await subject.world.disk.mkdir(inside(subject), { recursive: true })
      const { adapter, world } = subject
      const options = bash(subject, 'cat; echo two >&2; echo "$@" $X; exit 7', {
        args: ['-c', 'cat; echo two >&2; printf "%s|" "$@"; echo "$X"; exit 7', 'bash', 'a b', "'", ''],
        stdin: new TextEncoder().encode('one\n'),
        env: { PATH, X: 'x y' },
      })
      const spawn = (each: SpawnOptions) => adapter.spawn(each, confined(subject))
      const plain = await ended((each) => world.processes.spawn(each), options)
      assert.deepEqual(await ended(spawn, options), plain)
      assert.deepEqual(await ended((each) => adapter.spawn(each, confined(subject, { hosts: ['h'] })), options), plain)
      await assert.rejects(spawn({ ...options, file: 'no-such-program' }), { code: 'ENOENT' })
      await assert.rejects(spawn({ ...options, cwd: posix.join(subject.folder, 'none') }), { code: 'ENOENT' })
    },
  },
  {
    title: 'a signal that ends the program is told, as a signal or as exit code 128 + n',
    async run(subject) {
      const { code, signal } = await run(subject, 'kill -SEGV $$')
      assert.ok(signal === 'SIGSEGV' || code === 139, `${code} ${signal}`)
    },
  },
  {
    title: 'what a program leaves behind is seen when it has ended, also what left its group, and can be ended',
    async run(subject) {
      const { gone } = await pipe(subject)
      const command = `mkfifo up; ${LEFT.replace('wait', 'read < up; exit 3')}`
      const child = await subject.adapter.spawn(bash(subject, command), confined(subject))
      assert.deepEqual([await child.exited, child.groupAlive()], [{ code: 3, signal: null }, true])
      child.killGroup('SIGKILL')
      await gone
      await untilNot(subject, () => child.groupAlive())
    },
  },
  {
    title: 'what is left and ends by itself needs nobody to end it',
    async run(subject) {
      await subject.world.disk.mkdir(inside(subject), { recursive: true })
      const command = 'mkfifo up down; { echo > up; read < down; } & read < up; exit 3'
      const child = await subject.adapter.spawn(bash(subject, command), confined(subject))
      assert.deepEqual([await child.exited, child.groupAlive()], [{ code: 3, signal: null }, true])
      await unconfined(subject, 'echo > workspace/down')
      await child.closed
      await untilNot(subject, () => child.groupAlive())
    },
  },
  {
    title: 'a program that has left nothing behind has left nothing to be seen',
    async run(subject) {
      await subject.world.disk.mkdir(inside(subject), { recursive: true })
      const child = await subject.adapter.spawn(bash(subject, '(true | cat) & wait; exit 3'), confined(subject))
      assert.deepEqual([await child.exited, child.groupAlive()], [{ code: 3, signal: null }, false])
    },
  },
  {
    title: 'a signal that a program sends to its whole group reaches nothing outside',
    async run(subject) {
      const { out, code } = await run(subject, `trap 'echo told; exit 5' TERM; kill 0; sleep 1000`)
      assert.deepEqual([out, code], ['told\n', 5])
    },
  },
  {
    title: 'a crowd is seen, also what left the group',
    async run(subject) {
      const { ready } = await pipe(subject)
      const command = 'for each in 1 2 3 4 5 6; do setsid sleep 1000 & done; echo > pipe; wait'
      let onCrowd!: () => void
      const crowded = new Promise<void>((resolve) => {
        onCrowd = resolve
      })
      const few = { processesMax: 1, onCrowd: () => assert.fail('one is no crowd') }
      const one = await subject.adapter.spawn(bash(subject, 'exec sleep 1000', { crowd: few }), confined(subject))
      const crowd = { processesMax: 6, onCrowd }
      const child = await subject.adapter.spawn(bash(subject, command, { crowd }), confined(subject))
      await ready
      await crowded
      for (const each of [child, one]) each.killGroup('SIGKILL')
      await Promise.all([child.exited, one.exited])
    },
  },
  {
    title: 'a cancelled program can end by itself, and its signal is told',
    async run(subject) {
      const { ready } = await pipe(subject)
      const trap = `trap 'echo tidied; exit 3' TERM; echo here > pipe; while :; do sleep 0.01; done`
      let out = ''
      const options = bash(subject, trap, { onStdout: (bytes) => void (out += new TextDecoder().decode(bytes)) })
      const child = await subject.adapter.spawn(options, confined(subject))
      await ready
      child.killGroup('SIGTERM')
      await child.closed
      assert.deepEqual([await child.exited, out], [{ code: 3, signal: null }, 'tidied\n'])
      const plain = await pipe({ ...subject, folder: posix.join(subject.folder, 'workspace') })
      const at = { cwd: posix.join(inside(subject), 'workspace') }
      const other = await subject.adapter.spawn(bash(subject, 'echo > pipe; exec sleep 1000', at), confined(subject))
      await plain.ready
      other.killGroup('SIGTERM')
      assert.deepEqual(await other.exited, { code: null, signal: 'SIGTERM' })
    },
  },
  {
    title: 'a program that is cancelled before it runs ends at once',
    async run(subject) {
      await subject.world.disk.mkdir(inside(subject), { recursive: true })
      const child = await subject.adapter.spawn(bash(subject, 'exec sleep 1000'), confined(subject))
      child.killGroup('SIGTERM')
      assert.notEqual((await child.exited).signal, null)
    },
  },
  {
    title: 'a killed program takes everything with it, also what left its group',
    async run(subject) {
      const { ready, gone } = await pipe(subject)
      const child = await subject.adapter.spawn(bash(subject, `trap '' TERM; ${LEFT}`), confined(subject))
      await ready
      child.killGroup('SIGTERM')
      assert.equal(child.groupAlive(), true)
      child.killGroup('SIGKILL')
      await child.exited
      await gone
      await untilNot(subject, () => child.groupAlive())
    },
  },
  {
    title: 'a host that is killed takes everything with it, also what left its group',
    async run(subject) {
      const { ready, gone } = await pipe(subject)
      const [file, ...args] = subject.host as readonly [string, ...string[]]
      const cwd = inside(subject)
      const host = await subject.world.processes.spawn({ file, args: [...args, LEFT], cwd, env: { PATH } })
      await ready
      host.killGroup('SIGKILL')
      await gone
    },
  },
]
