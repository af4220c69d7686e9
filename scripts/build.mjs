/** Owns the build: one emit for every package, then each package's part is moved to its own `dist`. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const emitted = join(root, 'build')

rmSync(emitted, { recursive: true, force: true })
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

let built = 0
for (const layer of readdirSync(join(root, 'packages'))) {
  for (const name of readdirSync(join(root, 'packages', layer))) {
    const source = join(emitted, 'packages', layer, name, 'src')
    if (!existsSync(source)) continue
    const target = join(root, 'packages', layer, name, 'dist')
    rmSync(target, { recursive: true, force: true })
    cpSync(source, target, { recursive: true })
    built++
  }
}
rmSync(emitted, { recursive: true, force: true })
process.stdout.write(`${built} packages built\n`)
