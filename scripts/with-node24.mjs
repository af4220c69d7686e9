/** Owns the second test leg: runs a command with the `node` of the npm package node@24 first on the path. */
import { spawnSync } from 'node:child_process'

const command = process.argv.slice(2)
if (command.length === 0) {
  process.stderr.write('usage: node scripts/with-node24.mjs COMMAND [ARGUMENT…]\n')
  process.exit(2)
}
const { status } = spawnSync('npx', ['-y', '-p', 'node@24', '--', ...command], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
process.exit(status ?? 1)
