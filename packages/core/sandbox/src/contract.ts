/** Owns what every sandbox does, however it confines: cases that start real programs. */
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
  type SandboxSubject,
} from './contract-subject.ts'

export type { SandboxSubject } from './contract-subject.ts'

/** One case, as contract runners take it. */
export interface SandboxCase {
  readonly title: string
  run(subject: SandboxSubject): Promise<void>
}

/** Leaves group and session, ignores TERM, and holds the pipe until it is killed. */
const LEFT = `setsid bash -c 'trap "" TERM; exec 7>pipe; echo here >&7; [ -p up ] && echo > up; exec sleep 1000 >&7' & wait`

export const sandboxContract: readonly SandboxCase[] = [
  {
    title: 'with workspace-write, files of the workspace and temporary files are written, and no others',
    async run(subject) {
      await unconfined(subject, 'mkdir outside')
      const command = `echo a > in; echo t > /tmp/t && cat /tmp/t; echo x > ${subject.folder}/outside/x || echo refused`
      const { out } = await run(subject, command)
      assert.equal(out, 't\nrefused\n')
      assert.equal((await unconfined(subject, 'cat workspace/in; ls outside')).out, 'a\n')
    },
  },
  {
    title: 'with read-only, no file of the workspace is written',
    async run(subject) {
      await unconfined(subject, 'mkdir workspace; echo old > workspace/file')
      const command = 'cat file; echo x > file || echo refused; rm file || echo refused; echo t > /tmp/t && cat /tmp/t'
      const { out } = await run(subject, command, { access: 'read' })
      assert.equal(out, 'old\nrefused\nrefused\nt\n')
      assert.equal((await unconfined(subject, 'cat workspace/file')).out, 'old\n')
    },
  },
  {
    title: 'temporary files are shared by starts with the same key, and by no others',
    async run(subject) {
      await run(subject, 'echo 1 > /tmp/shared')
      assert.equal((await run(subject, 'cat /tmp/shared')).out, '1\n')
      assert.equal((await run(subject, 'cat /tmp/shared', { scratch: 'two' })).code, 1)
    },
  },
  {
    title: 'what is protected is neither changed, removed, renamed nor replaced',
    async run(subject) {
      await unconfined(
        subject,
        'mkdir -p workspace/.git/hooks; echo 1 > workspace/.git/config; echo 1 > workspace/free',
      )
      const root = inside(subject)
      const attempts = [
        'echo x > .git/hooks/pre-commit',
        'echo x >> .git/config',
        'rm .git/config',
        'mv free .git/config',
        'mv .git/hooks moved',
        'mv .git moved',
        'rm -rf .git',
        'chmod 777 .git/hooks',
        'umount .git/hooks',
        'unshare -Urm sh -c "umount .git/hooks && echo x > .git/hooks/x"',
        'unshare -Urm sh -c "mount -o remount,rw,bind .git/hooks && echo x > .git/hooks/x"',
        'echo x > /proc/1/root$PWD/.git/hooks/x',
      ]
      const command = attempts.map((attempt) => `if ${attempt}; then echo 'done: ${attempt}'; fi`).join('\n')
      const { out } = await run(subject, `${command}\necho a > .git/index && echo free`, {
        protected: [posix.join(root, '.git/hooks'), posix.join(root, '.git/config')],
      })
      assert.equal(out, 'free\n')
      const left = await unconfined(subject, 'cd workspace; cat .git/config; ls .git/hooks')
      assert.equal(left.out, '1\n')
    },
  },
  {
    title: 'a protected path that is not there does not come into being, and leaves nothing behind',
    async run(subject) {
      const root = inside(subject)
      const command =
        'mkdir .rules; echo x > .rules/all || echo refused; echo x > list.yml || echo refused; rmdir .rules'
      const paths = ['.rules', 'list.yml', 'no/such/folder'].map((name) => posix.join(root, name))
      const { out } = await run(subject, `${command}; mv .rules gone || echo kept`, { protected: paths })
      assert.equal(out, 'refused\nrefused\nkept\n')
      assert.equal((await unconfined(subject, 'ls -A workspace')).out, '')
    },
  },
  {
    title: 'a file stands for a protected path that is not there and is read as a file, and leaves nothing behind',
    async run(subject) {
      await unconfined(subject, 'mkdir -p workspace/.git')
      const common = posix.join(inside(subject), '.git/commondir')
      const attempts = ['echo x > .git/commondir', 'rm -f .git/commondir', 'mv .git gone', 'rm -rf .git/commondir.*']
      const command = attempts.map((attempt) => `if ${attempt}; then echo 'done: ${attempt}'; fi`).join('\n')
      const { out } = await run(subject, `${command}\ncat .git/commondir; echo a > .git/index`, {
        protected: [common],
        standIns: new Map([[common, '.\n']]),
      })
      assert.equal(out, '.\n')
      assert.equal((await unconfined(subject, 'ls -A workspace/.git')).out, 'index\n')
    },
  },
  {
    title: 'a link out of the workspace does not help',
    async run(subject) {
      await unconfined(subject, 'mkdir outside workspace; echo old > outside/file; ln -s ../outside workspace/link')
      const command = `echo x > link/file; ln -s ${subject.folder}/outside own; echo x > own/new; ln link/file hard; echo x > hard`
      await run(subject, command)
      assert.equal((await unconfined(subject, 'cat outside/file; ls outside')).out, 'old\nfile\n')
    },
  },
  {
    title: 'what is hidden is not read, also inside the workspace',
    async run(subject) {
      await unconfined(subject, 'mkdir -p keys workspace/own; echo k > keys/k; echo k > workspace/own/k; echo f > file')
      const hidden = ['keys', 'workspace/own', 'file', 'missing'].map((name) => posix.join(subject.folder, name))
      const { out } = await run(subject, 'cat ../keys/k ../file own/k; ls ../keys own', { hidden })
      assert.equal(out, '../keys:\n\nown:\n')
    },
  },
  {
    title: 'without hosts no network is reached, not even that of the host itself',
    async run(subject) {
      const { out } = await run(subject, `exec 3<>/dev/tcp/127.0.0.1/${subject.peer.port} || echo refused`)
      assert.equal(out, 'refused\n')
    },
  },
  {
    title: 'an allowed host is reached through the proxy that the environment names, and no other',
    async run(subject) {
      const { port, asked } = subject.peer
      const get = (path: string, at: string) =>
        `proxy=\${HTTP_PROXY#http://}; exec 3<>/dev/tcp/\${proxy%:*}/\${proxy#*:}
         printf 'GET http://${at}${path} HTTP/1.1\\r\\nHost: ${at}\\r\\nConnection: close\\r\\n\\r\\n' >&3; head -n 1 <&3`
      const allowed = { hosts: [`127.0.0.1:${port}`] }
      assert.match((await run(subject, get('/yes', `127.0.0.1:${port}`), allowed)).out, /^HTTP\/1\.1 200/)
      assert.match((await run(subject, get('/no', `localhost:${port}`), allowed)).out, /^HTTP\/1\.1 403/)
      assert.match((await run(subject, get('/no', `127.0.0.1:${port}`), { hosts: ['example.org'] })).out, /403/)
      const direct = await run(subject, `exec 3<>/dev/tcp/127.0.0.1/${port} || echo refused`, allowed)
      assert.equal(direct.out, 'refused\n')
      assert.deepEqual(asked, ['/yes'])
    },
  },
  {
    title: 'nothing of the environment of the host is seen, and none of its processes',
    async run(subject) {
      const { pid } = subject.world.host
      const command = `env; cat /proc/*/environ | tr '\\0' '\\n'; kill -0 ${pid} && echo killable`
      const { out } = await run(subject, command)
      assert.ok(out.includes(`PATH=${PATH}`))
      assert.ok(!out.includes(subject.secret))
      assert.ok(!out.includes('killable'))
    },
  },
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
    title: 'nothing outlives the program, not even what left its group',
    async run(subject) {
      const { gone } = await pipe(subject)
      const { out } = await run(subject, `mkfifo up; ${LEFT.replace('wait', 'read < up; echo done')}`)
      assert.equal(out, 'done\n')
      await gone
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
