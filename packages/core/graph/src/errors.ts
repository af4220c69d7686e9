/** Owns the failures of looking at a composition. */
import { defineErrors } from '@sluice/base'

export const graphErrors = defineErrors({
  GRAPH_PLUGIN_FAILED: {
    when: 'a plugin of the composition fails while it is mounted to be looked at',
    message: (d: { file: string; report: string }) => `${d.file} cannot be mounted without effects\n${d.report}`,
    remedy: 'Mend the plugin: it must mount without touching the outside.',
  },
  GRAPH_SERVICE_MISSING: {
    when: 'the composition has no plugin for a service that is asked what there is',
    message: (d: { file: string; service: string; report: string }) =>
      `${d.file} provides no ${d.service}\n${d.report}`,
    remedy: 'Add a plugin that provides the service.',
  },
})
