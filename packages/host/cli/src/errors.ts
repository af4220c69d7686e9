/** Owns the failures of the command line. */
import { defineErrors } from '@sluice/base'

export const cliErrors = defineErrors({
  CLI_NO_MODEL: {
    when: 'no model endpoint is named by the environment',
    message: (_: Record<string, never>) => 'no model: none of DEEPSEEK_API_KEY, OPENAI_API_KEY, SLUICE_BASE_URL is set',
    remedy:
      'Set DEEPSEEK_API_KEY, or OPENAI_API_KEY (and OPENAI_BASE_URL), or SLUICE_BASE_URL with SLUICE_MODEL (and SLUICE_API_KEY) for any OpenAI-compatible endpoint.',
  },
  CLI_MODEL_UNNAMED: {
    when: 'an endpoint is known but not which of its models to use',
    message: (d: { baseURL: string }) => `no model is named for the endpoint ${d.baseURL}`,
    remedy: 'Set SLUICE_MODEL, or give --model NAME.',
  },
  CLI_CWD_MISSING: {
    when: 'the working folder does not exist or is no folder',
    message: (d: { path: string; problem: string }) => `the working folder ${d.path} ${d.problem}`,
    remedy: 'Give an existing folder with --cwd DIR.',
  },
  CLI_COMPOSITION_MISSING: {
    when: 'the composition file that was asked for does not exist',
    message: (d: { path: string }) => `there is no composition file ${d.path}`,
    remedy: 'Check the path given with --composition, or leave it out for the default composition.',
  },
  CLI_COMPOSITION_INCOMPLETE: {
    when: 'the mounted composition lacks something that a task needs',
    message: (d: { file: string; missing: readonly string[]; report: string }) =>
      `${d.file} does not provide ${d.missing.join(', ')}\n${d.report}`.trim(),
    remedy: 'Add the plugins that provide it to the composition, or repair those that are pending or failed.',
  },
  CLI_NO_SESSION: {
    when: 'the last session of a folder is asked for and there is none',
    message: (d: { cwd: string }) => `there is no session for ${d.cwd}`,
    remedy: '`sluice session list` shows what there is; `sluice run` without --session begins one.',
  },
  CLI_NO_TASK: {
    when: 'no task is given and nobody is there to talk to',
    message: (_: Record<string, never>) => 'no task was given and the input is not a terminal',
    remedy: 'Give the task as an argument: sluice run "the task".',
  },
  CLI_SESSION_UNKNOWN: {
    when: 'no session has the id that was given, or an id that begins with it',
    message: (d: { given: string; nearest: readonly string[] }) =>
      `there is no session ${JSON.stringify(d.given)}${d.nearest.length > 0 ? `; the nearest: ${d.nearest.join(', ')}` : ''}`,
    remedy: '`sluice session list` shows what there is.',
  },
  CLI_SESSION_AMBIGUOUS: {
    when: 'several sessions have ids that begin with what was given',
    message: (d: { given: string; count: number; some: readonly string[] }) =>
      `${d.count} sessions begin with ${JSON.stringify(d.given)}: ${d.some.join(', ')}${d.count > d.some.length ? ', …' : ''}`,
    remedy: 'Give more of the id.',
  },
  CLI_SESSION_DAMAGED: {
    when: 'something is to be written to a session whose log is damaged',
    message: (d: { id: string; line: number; kind: string; detail: string }) =>
      `session ${d.id} is damaged at line ${d.line} (${d.kind}: ${d.detail})`,
    remedy: 'Mend it first: sluice session repair ID.',
  },
  CLI_NOT_GRANTED: {
    when: 'a rule is to be revoked that is not granted in the session',
    message: (d: { id: string; rule: string }) => `${JSON.stringify(d.rule)} is not granted in session ${d.id}`,
    remedy: '`sluice session grants ID` lists what is; give a rule as it stands there, in quotes.',
  },
  CLI_NOT_CONFIRMED: {
    when: 'something would be gone for ever, and nobody is there to agree to it',
    message: (d: { question: string }) => `${d.question} Nobody is there to say yes`,
    remedy: 'Give --yes if that is wanted.',
  },
  CLI_FILE_EXISTS: {
    when: 'an export would replace a file',
    message: (d: { path: string }) => `there is already a file ${d.path}`,
    remedy: 'Give another name, or remove the file.',
  },
  CLI_FILE_UNWRITABLE: {
    when: 'the file of an export cannot be written',
    message: (d: { path: string; code: string }) => `${d.path} cannot be written (${d.code})`,
    remedy: 'Check the folder, its permissions and the space on its disk; nothing is left of the file.',
  },
  CLI_NOT_A_SESSION: {
    when: 'the path that was given does not lead to a session',
    message: (d: { path: string }) => `${d.path} is no session`,
    remedy: 'Give the events.jsonl of a session, its folder, its id, or the beginning of its id.',
  },
})
