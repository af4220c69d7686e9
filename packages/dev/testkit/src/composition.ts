/** Owns small compositions to look at: the real registry, and plugins given by the test. */
import * as session from '@sluice/session'
import * as tools from '@sluice/tools'
import { type Booted, boot } from '@sluice/graph'
import type { Context } from 'cordis'
import { simWorld } from './world.ts'

const FILE = '/app/sluice.yml'

export type Body = (ctx: Context) => void

/** A plugin that takes part in calls. */
export function part(name: string, body: Body, needs: readonly string[] = ['tools']) {
  return {
    name,
    inject: [...needs],
    apply: (ctx: Context) => {
      body(ctx)
    },
  }
}

/** Boots the registry with `extra` plugins, in order; the caller disposes. */
export function bootWith(extra: Record<string, unknown>): Promise<Booted> {
  const modules: Record<string, unknown> = {
    '@sluice/tools': tools,
    '@sluice/session': session,
    store: session.memoryStorePlugin,
    ...extra,
  }
  const text = Object.keys(modules)
    .map((name) => `- name: '${name}'`)
    .join('\n')
  return boot({
    file: FILE,
    title: 'app/sluice.yml',
    world: simWorld({ files: { [FILE]: text } }),
    importer: async (name) => modules[name],
  })
}
