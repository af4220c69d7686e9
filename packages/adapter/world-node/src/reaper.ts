/** Owns the one process that outlives a host which is killed: it waits for the host's end, then kills what the host has left. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Child } from '@sluice/base'
import { hostMark, MARK } from './mark.ts'

/** Each line names all groups that live, as `pid:ticks`; the input ends when the host does, however that happens. A group
 *  counts while its leader is the process that it was; what carries the mark of the host counts wherever it went. */
const SCRIPT = `
while read -r line; do groups=$line; done
for entry in $groups; do
  set -- "$1" $(sed 's/.*) //' "/proc/\${entry%:*}/stat" 2>/dev/null)
  [ "\${21}" = "\${entry#*:}" ] && kill -KILL "-\${entry%:*}"
done
for look in 1 2 3 4 5; do
  marked=$(grep -lsaz "^$1" /proc/[0-9]*/environ)
  [ -n "$marked" ] || exit 0
  for file in $marked; do pid=\${file%/environ}; kill -KILL "\${pid#/proc/}"; done
done
`

export class Reaper {
  private running: ChildProcess | undefined

  /** Before the first child, so that there is no moment in which a killed host leaves one. */
  start(): void {
    if (process.platform !== 'linux' || this.running) return
    const running = started()
    this.running = running
    running.once('exit', () => {
      if (this.running === running) this.running = undefined
    })
  }

  /** Says which groups live now. */
  tell(children: Iterable<Child>): void {
    const entries = [...children].map(({ pid, startedAt = '' }) => `${pid}:${startedAt.split('/')[1] ?? ''}`)
    this.running?.stdin?.write(`${entries.join(' ')}\n`)
  }

  /** Nothing is killed: other Worlds of this host may have children. */
  end(): void {
    this.running?.kill('SIGKILL')
    this.running = undefined
  }
}

/** In a group of its own, so that what ends the host does not end it, and unreferenced, so that it does not keep the host. */
function started(): ChildProcess {
  const { PATH = '/usr/bin:/bin' } = process.env
  const running = spawn('/bin/sh', ['-c', SCRIPT, 'sh', `${MARK}=${hostMark()}`], {
    cwd: '/',
    env: { PATH, LC_ALL: 'C' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without it a host that is killed leaves its children to the next opening of their session.
  running.on('error', () => {})
  running.stdin?.on('error', () => {})
  running.unref()
  ;(running.stdin as (NodeJS.WritableStream & { unref?(): void }) | null)?.unref?.()
  return running
}
