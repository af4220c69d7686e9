/** Owns the probe tool: a definition that counts how often its body ran, and with what. */
import type { JsonObject } from '@sluice/base'
import type { Run, ToolDefinition } from '@sluice/tools'

export interface ProbeTool {
  readonly definition: ToolDefinition
  /** How often the body was entered. */
  readonly runs: number
  /** Arguments of each run. */
  readonly args: readonly JsonObject[]
  /** Runs of the body that have not settled. */
  readonly active: number
  /** The highest number of runs that were active together. */
  readonly activeMax: number
}

export interface ProbeOptions extends Partial<Omit<ToolDefinition, 'execute'>> {
  /** What a run does. Default: returns `'probed'`. */
  readonly body?: (args: JsonObject, run: Run) => unknown
}

/** A tool named `probe` that takes any object, unless told otherwise. */
export function probeTool(options: ProbeOptions = {}): ProbeTool {
  const { body = () => 'probed', ...rest } = options
  const args: JsonObject[] = []
  let active = 0
  let activeMax = 0
  const definition: ToolDefinition = {
    name: 'probe',
    description: 'Counts its runs.',
    parameters: { type: 'object' },
    ...rest,
    async execute(given, run) {
      args.push(given)
      active++
      activeMax = Math.max(activeMax, active)
      try {
        return await body(given, run)
      } finally {
        active--
      }
    },
  }
  return {
    definition,
    args,
    get runs() {
      return args.length
    },
    get active() {
      return active
    },
    get activeMax() {
      return activeMax
    },
  }
}
