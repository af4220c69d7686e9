/** Owns the failures of registering and calling tools. */
import { defineErrors } from '@sluice/base'

export const toolsErrors = defineErrors({
  TOOLS_NAME_INVALID: {
    when: 'a tool is registered under a name that providers do not take',
    message: (d: { name: string }) => `${JSON.stringify(d.name)} is no tool name`,
    remedy: 'Use 1 to 64 characters of A-Z, a-z, 0-9, _ and -.',
  },
  TOOLS_NAME_TAKEN: {
    when: 'a tool is registered under a name that is taken in the same scope',
    message: (d: { name: string; plugin: string }) => `the tool ${d.name} is already registered by ${d.plugin}`,
    remedy: 'Unload the other plugin, or register under another name or for one agent.',
  },
  TOOLS_SCHEMA_INVALID: {
    when: 'a schema of a definition cannot be compiled or is no JSON Schema',
    message: (d: { name: string; which: string; problem: string }) =>
      `the ${d.which} schema of ${d.name}: ${d.problem}`,
    remedy: 'Give a JSON Schema of an object (TypeBox, zod 4, arktype and valibot can make one).',
  },
  TOOLS_DEFINITION_GONE: {
    when: 'the plugin of a tool unloads between the admission of a call and the start of its body',
    message: (d: { tool: string; plugin: string }) =>
      `the tool ${d.tool} was unloaded (${d.plugin}) before the call ran`,
    remedy: 'Call it again; the newer definition is then used if there is one.',
  },
  TOOLS_POLICY_MISSING: {
    when: 'a policy that declared itself required is not active',
    message: (d: { policies: readonly string[] }) => `required policy not active: ${d.policies.join(', ')}`,
    remedy: 'Mount the policy again; `diagnose` of @sluice/compose says why it is not active.',
  },
  TOOLS_BAD_ANSWER: {
    when: 'a listener or guard answers with something that is no answer of its stage',
    message: (d: { event: string; problem: string }) => `${d.event}: ${d.problem}`,
    remedy: 'Return an answer of the stage, or next() to abstain.',
  },
  TOOLS_NOT_REPEATABLE: {
    when: 'a wrapper calls next() again although the body may not run twice',
    message: (d: { tool: string; problem: string }) => `${d.tool} may not run again: ${d.problem}`,
    remedy: 'Only calls of read-only or idempotent tools may be tried again, one try after the other.',
  },
  TOOLS_NOT_DURABLE: {
    when: 'the log cannot be made durable before a body that changes something',
    message: (d: { problem: string }) => `the call did not run because the session log cannot be written: ${d.problem}`,
    remedy: 'Free disk space or mend the permissions of the session folder, then call again.',
  },
  TOOLS_BODY_RUNNING: {
    when: 'a wrapper returns while the body still runs',
    message: (d: { plugin: string }) => `${d.plugin} answered while the body was still running`,
    remedy: 'Await next(); use run.deadline(ms) for a time limit.',
  },
  TOOLS_BODY_FAILED: {
    when: 'a body throws an error without a code',
    message: (d: { message: string }) => d.message,
    remedy: 'Read the message.',
  },
  TOOLS_RESULT_NOT_JSON: {
    when: 'a body returns something that JSON cannot hold without loss',
    message: (d: { path: string; problem: string }) =>
      `the tool returned something that is not JSON at ${d.path}: ${d.problem}`,
    remedy: 'Return plain JSON values.',
  },
  TOOLS_OUTPUT_INVALID: {
    when: 'a value does not fit the output schema of its definition',
    message: (d: { problems: string }) =>
      `the tool returned a value that does not fit its output schema: ${d.problems}`,
    remedy: 'Mend the tool or its output schema.',
  },
  TOOLS_BLOCKED: {
    when: 'a post-execute listener blocks a successful result',
    message: (d: { reason: string }) => d.reason,
    remedy: 'Follow the reason.',
  },
  TOOLS_FINALIZER_FAILED: {
    when: 'finalizeContent throws, returns a promise or something that is no content',
    message: (d: { problem: string }) => `the content was dropped: ${d.problem}`,
    remedy: 'Mend finalizeContent of the definition: it is synchronous and returns content parts.',
  },
  TOOLS_KEY_HELD: {
    when: 'a call needs a resource that an abandoned body still holds',
    message: (d: { key: string; holder: string }) => `${d.key} is still held by ${d.holder}, whose body did not end`,
    remedy: 'Wait until that body ends, or start a new session.',
  },
  TOOLS_RESULT_NOT_RECORDED: {
    when: 'the result of a call cannot be appended to the log',
    message: (d: { problem: string }) => `the result could not be recorded: ${d.problem}`,
    remedy: 'Mend the session log; opening it again settles the call.',
  },
  TOOLS_MACHINERY: {
    when: 'the pipeline itself fails',
    message: (d: { stage: string; problem: string }) => `the pipeline failed in ${d.stage}: ${d.problem}`,
    remedy: 'Report this as a defect.',
  },
  TOOLS_RUN_OVER: {
    when: 'a nested call is made after the body has settled, or next() is called after its wrapper has answered',
    message: (d: { tool: string }) => `${d.tool} was called after its run had ended`,
    remedy: 'Make nested calls before the body returns, and call next() before the wrapper answers.',
  },
  TOOLS_NESTED_LIMIT: {
    when: 'a call makes too many nested calls, or nests too deep',
    message: (d: { tool: string; limit: string }) => `${d.tool} was not called: at most ${d.limit}`,
    remedy: 'Make fewer nested calls, or do not let a tool call itself.',
  },
  TOOLS_NESTED_FAILED: {
    when: 'a nested call does not succeed',
    message: (d: { code: string; tool: string; reason: string; executed: string }) => `${d.tool}: ${d.reason}`,
    remedy: 'Catch it and look at data.code and data.executed.',
  },
})
