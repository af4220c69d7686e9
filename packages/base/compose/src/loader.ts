/** Owns the loader of one composition: the framework's, with modules that were imported beforehand and a file that it never writes. */
import { Loader } from '@deepseek-ai/cordis-plugin-loader'
import { assert } from '@sluice/base'
import type { Context } from 'cordis'

export interface LoaderConfig {
  /** Address that relative names count from. */
  readonly baseUrl: string
  /** By the name of the entry. */
  readonly modules: ReadonlyMap<string, unknown>
}

export class CompositionLoader extends Loader {
  readonly modules: ReadonlyMap<string, unknown>

  constructor(ctx: Context, config: LoaderConfig) {
    super(ctx, { baseUrl: config.baseUrl })
    this.modules = config.modules
  }

  override import(name: string): unknown {
    assert(this.modules.has(name), `the module of ${name} was not imported beforehand`)
    return this.modules.get(name)
  }
}
