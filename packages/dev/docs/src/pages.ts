/** Owns which pages a reference has. */
import type { Booted } from './boot.ts'
import { compositionPage } from './composition-page.ts'
import { configPage } from './config-page.ts'
import { errorsPage } from './errors-page.ts'
import { pipelinePage } from './pipeline-page.ts'
import { compare } from './known-plugins.ts'
import { sessionEventsPage } from './session-events-page.ts'
import { toolsPage } from './tools-page.ts'
import type { Page } from './types.ts'

/** Every page of the reference of a composition, sorted by name. Equal compositions give equal bytes.
 *  @throws DOCS_SERVICE_MISSING */
export function pagesOf(booted: Booted): Page[] {
  const pages = [
    compositionPage(booted),
    configPage(booted),
    errorsPage(booted),
    pipelinePage(booted),
    sessionEventsPage(booted),
    toolsPage(booted),
  ]
  return pages.sort((a, b) => compare(a.name, b.name))
}
