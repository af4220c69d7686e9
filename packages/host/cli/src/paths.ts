/** Owns where the command looks for a composition. */
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Disk, type HostInfo, isDiskError } from '@sluice/base'
import { cliErrors } from './errors.ts'

/** The composition that comes with the command. */
export const defaultComposition = fileURLToPath(new URL('../sluice.yml', import.meta.url))

/** `$XDG_CONFIG_HOME/sluice/sluice.yml`; a relative variable counts as absent, as its specification says. */
export function userComposition({ env, homeDir }: Pick<HostInfo, 'env' | 'homeDir'>): string {
  const config = env.XDG_CONFIG_HOME
  const base = config !== undefined && isAbsolute(config) ? config : join(homeDir, '.config')
  return join(base, 'sluice', 'sluice.yml')
}

/** The file that was asked for, else that of the user, else the default. One in the working folder counts only when asked for.
 *  @throws CLI_COMPOSITION_MISSING */
export async function compositionFile(
  world: { readonly disk: Disk; readonly host: HostInfo },
  callerCwd: string,
  asked: string | undefined,
): Promise<string> {
  if (asked !== undefined) {
    const path = resolve(callerCwd, asked)
    if (await exists(world.disk, path)) return path
    throw cliErrors('CLI_COMPOSITION_MISSING', { path })
  }
  const own = userComposition(world.host)
  return (await exists(world.disk, own)) ? own : defaultComposition
}

/** Says that a composition in the folder `cwd` is not the one that is used. */
export async function noteUnused(disk: Disk, cwd: string, say: (text: string) => void): Promise<void> {
  if (await disk.stat(join(cwd, 'sluice.yml')).catch(() => undefined)) {
    say('note: sluice.yml of the working folder is not used; --composition sluice.yml would trust and run it\n')
  }
}

/** The working folder of a run as an absolute path.
 *  @throws CLI_CWD_MISSING */
export async function workingFolder(disk: Disk, callerCwd: string, asked: string | undefined): Promise<string> {
  const path = resolve(callerCwd, asked ?? '.')
  const problem = await disk.stat(path).then(
    ({ kind }) => (kind === 'directory' ? undefined : `is a ${kind}`),
    (error: unknown) => (isDiskError(error, 'ENOENT') ? 'does not exist' : `cannot be used: ${String(error)}`),
  )
  if (problem !== undefined) throw cliErrors('CLI_CWD_MISSING', { path, problem })
  return path
}

async function exists(disk: Disk, path: string): Promise<boolean> {
  return disk.stat(path).then(
    () => true,
    (error: unknown) => !isDiskError(error, 'ENOENT') && !isDiskError(error, 'ENOTDIR'),
  )
}
