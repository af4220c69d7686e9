/** Owns the failures of this adapter beyond those that every model adapter has. */
import { defineErrors } from '@sluice/base'

export const llmAiSdkErrors = defineErrors({
  LLM_KEY_MISSING: {
    when: 'the environment variable that should hold the key is not set',
    message: (d: { provider: string; variable: string }) =>
      `the key of ${d.provider} should be in ${d.variable}, which is not set`,
    remedy: 'Set the variable, or name another one as apiKeyEnv in the composition.',
  },
})
