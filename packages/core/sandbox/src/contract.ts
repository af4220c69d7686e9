/** Owns what every sandbox does, however it confines: cases that start real programs. */
import assert from 'node:assert/strict'
import { fileCases } from './files.contract.ts'
import { processCases } from './processes.contract.ts'
import { PATH, run, type SandboxCase } from './contract-subject.ts'

export type { SandboxCase, SandboxSubject } from './contract-subject.ts'
export { confinedTo } from './contract-subject.ts'

const networkCases: readonly SandboxCase[] = [
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
]

export const sandboxContract: readonly SandboxCase[] = [...fileCases, ...networkCases, ...processCases]
