/** Owns where the command keeps its data and looks for its configuration: the XDG folders. */
import { isAbsolute, join } from 'node:path'

export interface Folders {
  readonly sessions: string
  /** The composition of the user, used when it exists. */
  readonly composition: string
}

type Env = Readonly<Record<string, string | undefined>>

/** Relative values of the XDG variables are ignored, as their specification says. */
export function folders(env: Env, homeDir: string): Folders {
  const data = absolute(env.XDG_DATA_HOME) ?? join(homeDir, '.local', 'share')
  const config = absolute(env.XDG_CONFIG_HOME) ?? join(homeDir, '.config')
  return { sessions: join(data, 'sluice', 'sessions'), composition: join(config, 'sluice', 'sluice.yml') }
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined
}
