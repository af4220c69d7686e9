/** Owns the failures of agents and turns. */
import { defineErrors } from '@sluice/base'

export const agentErrors = defineErrors({
  AGENT_NAME_TAKEN: {
    when: 'a second live agent wants the name of the first',
    message: (d: { name: string }) => `an agent named ${d.name} is already live`,
    remedy: 'Give the new agent another name, or close the first one.',
  },
  AGENT_SESSION_TAKEN: {
    when: 'a second agent wants to drive a session',
    message: (d: { session: string; name: string }) => `the session ${d.session} is driven by the agent ${d.name}`,
    remedy: 'Use that agent, or give the new one a session of its own.',
  },
  AGENT_SESSION_READ_ONLY: {
    when: 'an agent is made for a session that cannot be written',
    message: (d: { session: string }) => `the session ${d.session} is read-only`,
    remedy: 'Repair the log or end its other writer, then open it for writing.',
  },
  AGENT_CLOSED: {
    when: 'input is given to an agent that was closed',
    message: (d: { name: string }) => `the agent ${d.name} is closed`,
    remedy: 'Create a new agent on the same session.',
  },
  AGENT_SECTION_TAKEN: {
    when: 'two plugins want one name for their part of the system prompt',
    message: (d: { name: string; owner: string }) => `the prompt section ${d.name} already belongs to ${d.owner}`,
    remedy: 'Choose another name for the section.',
  },
  AGENT_SECTION_FAILED: {
    when: 'the text of a prompt section cannot be made',
    message: (d: { name: string; owner: string; problem: string }) =>
      `the prompt section ${d.name} of ${d.owner} failed: ${d.problem}`,
    remedy: 'Repair or unmount that plugin: no request goes out with a part of its system prompt missing.',
  },
  AGENT_REPLY_INCOMPLETE: {
    when: 'a stream ends without saying how',
    message: (d: { model: string }) => `the reply of ${d.model} ended without a finish reason`,
    remedy: 'Send the message again; what was received is kept in the session.',
  },
  AGENT_REPLY_FILTERED: {
    when: 'the provider withholds a reply',
    message: (d: { model: string }) => `the provider filtered the reply of ${d.model}`,
    remedy: 'Word the task differently, or use another model.',
  },
  AGENT_REPLY_TOO_LONG: {
    when: 'a reply exceeds the bound on its characters',
    message: (d: { model: string; charsMax: number }) => `the reply of ${d.model} exceeds ${d.charsMax} characters`,
    remedy: 'Lower the output limit of the model.',
  },
  AGENT_REPLY_FAILED: {
    when: 'a model adapter fails without a typed error, or says that the reply is an error',
    message: (d: { model: string; problem: string }) => `the request to ${d.model} failed: ${d.problem}`,
    remedy: 'Look at the log of the model adapter.',
  },
  AGENT_TURN_FAILED: {
    when: 'something other than the model fails in the middle of a turn',
    message: (d: { problem: string }) => `the turn could not go on: ${d.problem}`,
    remedy: 'The session is settled; send the message again, or look at the detail.',
  },
})
