/** Owns what a start asks: is this Node new enough, does the installation fit the lockfile, and where did its packages come from. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** True when `version` is below `minimum`; both are dotted numbers. */
export function tooOld(version, minimum) {
  const have = version.split('.').map(Number)
  const want = minimum.split('.').map(Number)
  for (let i = 0; i < want.length; i++) {
    if ((have[i] || 0) !== want[i]) return (have[i] || 0) < want[i]
  }
  return false
}

function stampFile(root) {
  return join(root, 'node_modules', '.sluice-installed')
}

function lockDigest(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'pnpm-lock.yaml')))
    .digest('hex')
}

/** True when nothing is installed or the lockfile differs from the one that was installed. */
export function installStale(root) {
  const file = stampFile(root)
  return !existsSync(file) || readFileSync(file, 'utf8') !== lockDigest(root)
}

/** The arguments that make pnpm use the store of the present installation: with another it would remove that first. */
export function storeArguments(root) {
  const file = join(root, 'node_modules', '.modules.yaml')
  const [, store] = /"?storeDir"?: *"?([^"\n]+)/.exec(existsSync(file) ? readFileSync(file, 'utf8') : '') ?? []
  return store === undefined ? [] : [`--store-dir=${store}`]
}

export function recordInstall(root) {
  writeFileSync(stampFile(root), lockDigest(root))
}
