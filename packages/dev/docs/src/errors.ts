/** Owns the failures of printing. */
import { defineErrors } from '@sluice/base'

export const docsErrors = defineErrors({
  DOCS_PLUGIN_FAILED: {
    when: 'a plugin of the composition fails while it is booted for printing',
    message: (d: { file: string; report: string }) => `${d.file} cannot be printed\n${d.report}`,
    remedy: 'Mend the plugin: it must mount without touching the outside.',
  },
  DOCS_SERVICE_MISSING: {
    when: 'the composition has no plugin for a service that a page is printed from',
    message: (d: { file: string; service: string; report: string }) =>
      `${d.file} provides no ${d.service}\n${d.report}`,
    remedy: 'Add a plugin that provides the service.',
  },
})
