/** Owns the cases of the contract about files: which can be read and written, and what stays as it is. */
import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { inside, run, unconfined, type SandboxCase } from './contract-subject.ts'

export const fileCases: readonly SandboxCase[] = [
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
    title: 'a folder of the workspace that is only read stays as it is, and one of the workspace below it does not',
    async run(subject) {
      await unconfined(subject, 'mkdir -p workspace/read/write workspace/read/.git; echo 1 > workspace/read/old')
      const at = (path: string) => posix.join(inside(subject), path)
      const workspace = [inside(subject), at('read/write'), at('missing')]
      const command =
        'cat read/old; for path in read/old read/.git/x; do echo x > $path || echo refused; done; mv read moved || echo refused; echo w > read/write/new && echo free'
      const more = { readOnly: [at('read'), at('no')], protected: [at('read/.git/config')] }
      const { out } = await run(subject, command, { workspace, ...more })
      assert.equal(out, '1\nrefused\nrefused\nrefused\nfree\n')
      assert.equal((await unconfined(subject, 'cd workspace; cat read/old read/write/new; ls')).out, '1\nw\nread\n')
    },
  },
  {
    title:
      'a folder of the workspace that is only read, and is not there, does not come into being, and leaves nothing behind',
    async run(subject) {
      await unconfined(subject, 'mkdir workspace')
      const more = { readOnly: [posix.join(inside(subject), 'no')] }
      // The second one finds what stands there for the first.
      const command = '(mkdir no; echo x > no/x || echo refused); mkdir no/x || echo refused'
      const [one, two] = await Promise.all([run(subject, command, more), run(subject, command, more)])
      assert.deepEqual([one.out, two.out], Array(2).fill('refused\nrefused\n'))
      assert.equal((await unconfined(subject, 'ls -A workspace')).out, '')
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
]
