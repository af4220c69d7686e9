/** Owns the set of pages. */
import { type Booted, compare } from '@sluice/graph'
import { compositionPage } from './composition-page.ts'
import { configPage } from './config-page.ts'
import { errorsPage } from './errors-page.ts'
import { eventsPage } from './events-page.ts'
import { pipelinePage } from './pipeline-page.ts'
import { sessionEventsPage } from './session-events-page.ts'
import { toolsPage } from './tools-page.ts'
import type { Page, PageOptions } from './types.ts'

/** Every page of the reference of a composition, sorted by name. Equal compositions give equal bytes.
 *  @throws GRAPH_SERVICE_MISSING */
export function pagesOf(booted: Booted, options: PageOptions = {}): Page[] {
  const pages = [
    compositionPage(booted),
    configPage(booted),
    errorsPage(booted),
    eventsPage(booted, options),
    pipelinePage(booted, options.stages),
    sessionEventsPage(booted, options),
    toolsPage(booted),
  ]
  return pages.sort((a, b) => compare(a.name, b.name))
}
