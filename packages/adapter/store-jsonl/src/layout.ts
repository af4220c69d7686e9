/** Owns where the files of a session are. */
import { isAbsolute, join } from 'node:path'
import type { HostInfo } from '@sluice/base'

export interface Layout {
  readonly root: string
  readonly dir: string
  readonly events: string
  readonly blobs: string
  readonly lock: string
  readonly index: string
}

export function layoutOf(root: string, id: string): Layout {
  const dir = join(root, id)
  const at = (name: string) => join(dir, name)
  return { root, dir, events: at('events.jsonl'), blobs: at('blobs'), lock: at('lock'), index: at('index') }
}

/** Where the blobs of another session of the same store are. */
export function blobsBeside(layout: Layout, id: string): string {
  return join(layout.root, id, 'blobs')
}

/** `$XDG_DATA_HOME/sluice/sessions`; a relative `XDG_DATA_HOME` counts as absent, as its specification says. */
export function defaultRoot(host: HostInfo): string {
  const data = host.env['XDG_DATA_HOME']
  const base = data !== undefined && isAbsolute(data) ? data : join(host.homeDir, '.local', 'share')
  return join(base, 'sluice', 'sessions')
}
