/** Owns which pages a reference has. */
import type { Booted } from './boot.ts'
import { pipelinePage } from './pipeline-page.ts'
import { compare } from './plugins.ts'
import type { Page } from './types.ts'

/** Every page of the reference of a composition, sorted by name. Equal compositions give equal bytes.
 *  @throws DOCS_SERVICE_MISSING */
export function pagesOf(booted: Booted): Page[] {
  return [pipelinePage(booted)].sort((a, b) => compare(a.name, b.name))
}
