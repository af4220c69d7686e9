/** Owns what to do about a turn that ended in an error, by the code of that error. */

/** The remedy of `code`, when a package that takes part in a turn defines it. */
export async function remedyOf(code: string): Promise<string | undefined> {
  const [llm, adapter, agent, session] = await Promise.all([
    import('@sluice/llm'),
    import('@sluice/llm-ai-sdk'),
    import('@sluice/agent'),
    import('@sluice/session'),
  ])
  const tables: Readonly<Record<string, { readonly remedy: string }>>[] = [
    llm.llmErrors.table,
    adapter.llmAiSdkErrors.table,
    agent.agentErrors.table,
    session.sessionErrors.table,
  ]
  return tables.find((table) => Object.hasOwn(table, code))?.[code]?.remedy
}
