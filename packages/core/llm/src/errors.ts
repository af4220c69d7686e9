/** Owns the failures of model requests. */
import { defineErrors } from '@sluice/base'

export const llmErrors = defineErrors({
  LLM_NO_ADAPTER: {
    when: 'no mounted adapter serves the provider of the model',
    message: (d: { model: string; providers: readonly string[] }) =>
      `no adapter serves the model ${d.model} (mounted: ${d.providers.join(', ') || 'none'})`,
    remedy: 'Mount an adapter for that provider, or name a model as provider/model with a provider that is mounted.',
  },
  LLM_PROVIDER_TAKEN: {
    when: 'two adapters want to serve one provider',
    message: (d: { provider: string }) => `the provider ${d.provider} is already served`,
    remedy: 'Give one of the adapters another provider name in the composition.',
  },
  LLM_UNREACHABLE: {
    when: 'the endpoint does not answer at all',
    message: (d: { url: string; problem: string }) => `cannot reach the model endpoint ${d.url}: ${d.problem}`,
    remedy: 'Check the base URL and that the server runs, then try again.',
  },
  LLM_REFUSED: {
    when: 'the endpoint answers with an error status',
    message: (d: { url: string; status: number; body: string }) =>
      `the model endpoint ${d.url} answered ${d.status}: ${d.body}`,
    remedy: 'Check the key, the model name and the quota of the account.',
  },
  LLM_BROKEN: {
    when: 'a stream breaks off or cannot be decoded',
    message: (d: { url: string; problem: string }) => `the answer of ${d.url} broke off: ${d.problem}`,
    remedy: 'Send the message again; what was received is kept in the session.',
  },
  LLM_TIMED_OUT: {
    when: 'nothing arrives within the idle or total limit',
    message: (d: { url: string; limit: string; ms: number }) => `${d.url} sent nothing within ${d.ms} ms (${d.limit})`,
    remedy: 'Try again, or raise the limit in the configuration of the adapter.',
  },
  LLM_PART_INVALID: {
    when: 'an adapter yields something that is not a part of a stream',
    message: (d: { provider: string; problem: string }) => `the adapter of ${d.provider} gave ${d.problem}`,
    remedy: 'Report this to the author of the adapter; its contract suite has a case for it.',
  },
})
