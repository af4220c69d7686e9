/** Owns the second test leg: runs a command with the `node` of the npm package node@24 first on the path. */
import { spawnSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'

const [program, ...args] = process.argv.slice(2)
if (program === undefined) {
  process.stderr.write('usage: node scripts/with-node24.mjs COMMAND [ARGUMENT…]\n')
  process.exit(2)
}
const shell = process.platform === 'win32'
const found = spawnSync('npx', ['-y', '-p', 'node@24', '--', 'node', '-p', 'process.execPath'], {
  stdio: ['ignore', 'pipe', 'inherit'],
  encoding: 'utf8',
  shell,
})
if (found.status !== 0) process.exit(found.status ?? 1)
// Only the path is changed: the settings that npx gives its children would mislead an npx inside the command.
const path = `${dirname(found.stdout.trim())}${delimiter}${process.env['PATH'] ?? ''}`
const { status } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, PATH: path }, shell })
process.exit(status ?? 1)
