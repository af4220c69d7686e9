/** Owns the failures of composing. */
import { defineErrors } from '@sluice/base'
import type { Diagnosis } from './types.ts'

export const composeErrors = defineErrors({
  COMPOSE_UNREADABLE: {
    when: 'the composition file is absent, cannot be read, is too long or is no text',
    message: (d: { file: string; problem: string }) => `cannot read the composition ${d.file}: ${d.problem}`,
    remedy: 'Give the path of an existing composition file, such as sluice.yml, that you may read.',
  },
  COMPOSE_YAML: {
    when: 'the composition file is not YAML, or uses a tag',
    message: (d: { file: string; line: number; column: number; problem: string }) =>
      `${d.file}:${d.line}:${d.column}: ${d.problem}`,
    remedy: 'Mend the YAML at this place.',
  },
  COMPOSE_SHAPE: {
    when: 'the composition file is YAML but not a list of entries { id?, name, config?, disabled? }',
    message: (d: { file: string; line: number; problem: string }) => `${d.file}:${d.line}: ${d.problem}`,
    remedy: 'Write a list of entries, each with a name and, where needed, id, config and disabled.',
  },
  COMPOSE_MODULE_NOT_FOUND: {
    when: 'the module that an entry names is found neither from the composition file nor from the host',
    message: (d: { name: string; places: readonly string[] }) =>
      `cannot find ${d.name}, looked from ${d.places.join(' and ')}`,
    remedy: 'Install the package beside the composition file, or correct the name.',
  },
  COMPOSE_NOT_READY: {
    when: 'a plugin of the composition failed, waits for a service, or did not settle in time',
    message: (d: { file: string; report: string; diagnosis: Diagnosis }) => `${d.file} is not ready\n${d.report}`,
    remedy:
      'Mend what failed first: what waits for it follows. For a service that nobody provides, add a plugin that does.',
  },
})
