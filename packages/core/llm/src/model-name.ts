/** Owns the names of models: `provider/model`, split at the first slash. */

export interface ModelName {
  readonly provider: string
  readonly model: string
}

/** A name without a slash has no model: it names no one. */
export function modelName(name: string): ModelName {
  const slash = name.indexOf('/')
  if (slash < 0) return { provider: name, model: '' }
  return { provider: name.slice(0, slash), model: name.slice(slash + 1) }
}
