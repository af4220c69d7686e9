/** Owns where the module of an entry is looked up: beside the composition file first, then beside the host. */
import { createRequire } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { composeErrors } from './errors.ts'
import type { Importer } from './types.ts'

/** Conditions that an import in Node fulfils. */
const conditions = new Set(['import', 'module-sync', 'node', 'default'])

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** The file that an `exports` value gives to an import, if it gives one. */
function targetOf(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports
  if (typeof exports !== 'object' || exports === null) return undefined
  for (const [condition, value] of Object.entries(exports)) {
    const target = conditions.has(condition) ? targetOf(value) : undefined
    if (target !== undefined) return target
  }
  return undefined
}

/** For packages whose exports have no way in for `require`, which is all that Node offers to look up from another place. */
function importOnly(name: string, require: NodeJS.Require): string | undefined {
  const parts = name.split('/')
  const scope = name.startsWith('@') ? 2 : 1
  const packageName = parts.slice(0, scope).join('/')
  const subpath = ['.', ...parts.slice(scope)].join('/')
  for (const folder of require.resolve.paths(name) ?? []) {
    let manifest: { exports?: unknown }
    try {
      manifest = require(join(folder, packageName, 'package.json')) as { exports?: unknown }
    } catch {
      continue
    }
    const { exports } = manifest
    const bySubpath = typeof exports === 'object' && exports !== null && Object.hasOwn(exports, subpath)
    const target = targetOf(
      bySubpath ? (exports as Record<string, unknown>)[subpath] : subpath === '.' ? exports : null,
    )
    if (target !== undefined) return join(folder, packageName, target)
  }
  return undefined
}

function lookUp(name: string, from: string): string | undefined {
  const require = createRequire(from)
  try {
    return require.resolve(name)
  } catch (error) {
    if (codeOf(error) === 'MODULE_NOT_FOUND') return undefined
    if (codeOf(error) === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return importOnly(name, require)
    throw error
  }
}

/** The address of the module `name`: a path counts from `places[0]`, a package is looked up from each place in turn.
 *  @throws COMPOSE_MODULE_NOT_FOUND */
export function resolveModule(name: string, places: readonly [string, ...string[]]): string {
  if (/^\.{1,2}\//.test(name)) return new URL(name, pathToFileURL(places[0])).href
  if (isAbsolute(name)) return pathToFileURL(name).href
  for (const place of places) {
    const found = lookUp(name, place)
    if (found !== undefined) return pathToFileURL(found).href
  }
  throw composeErrors('COMPOSE_MODULE_NOT_FOUND', { name, places })
}

/** An importer for a host whose own module is the file `host` (a path): packages that it has need no installation elsewhere. */
export function moduleImporter(host: string): Importer {
  return (name, file) => import(/* @vite-ignore */ resolveModule(name, [file, host]))
}
