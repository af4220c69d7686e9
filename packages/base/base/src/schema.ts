/** Owns checking values against JSON Schema: compiled on first use, kept by schema identity, problems listed with paths. */
import { Compile } from 'typebox/schema'
import { Settings } from 'typebox/system'

export interface SchemaProblem {
  /** JSONPath-like place; `$` is the value itself. */
  readonly path: string
  readonly problem: string
}

export interface SchemaCheck {
  /** True when `value` fits. */
  test(value: unknown): boolean
  /** Every problem (at most {@link PROBLEMS_MAX}), empty when it fits. */
  problems(value: unknown): SchemaProblem[]
}

export const PROBLEMS_MAX = 20

const checks = new WeakMap<object, SchemaCheck>()

function pathOf(pointer: string): string {
  let path = '$'
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (/^\d+$/.test(key)) path += `[${key}]`
    else path += /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
  }
  return path
}

/** A check for `schema` (JSON Schema 2020-12 or draft-07, TypeBox included). Throws what the compiler throws for a broken schema. */
export function schemaCheck(schema: object): SchemaCheck {
  const known = checks.get(schema)
  if (known) return known
  const compiled = Compile(schema)
  const check: SchemaCheck = {
    test: (value) => compiled.Check(value),
    problems: (value) => problemsOf(compiled, value),
  }
  checks.set(schema, check)
  return check
}

function problemsOf(compiled: ReturnType<typeof Compile>, value: unknown): SchemaProblem[] {
  const [fits, errors] = withErrorsMax(() => compiled.Errors(value))
  if (fits) return []
  const problems: SchemaProblem[] = []
  for (const { keyword, schemaPath, instancePath, message } of errors) {
    const path = pathOf(instancePath)
    if (keyword === 'boolean') {
      const isUnknown = schemaPath.endsWith('/additionalProperties')
      problems.push({ path, problem: isUnknown ? 'is not a known property' : 'is not allowed' })
    } else if (keyword !== 'additionalProperties' || problems.length === 0) problems.push({ path, problem: message })
  }
  if (errors.length < PROBLEMS_MAX) return problems
  return [
    ...problems.slice(0, PROBLEMS_MAX - 1),
    { path: '$', problem: `has more problems than the ${PROBLEMS_MAX - 1} shown` },
  ]
}

/** The compiler's own limit is global and lower. */
function withErrorsMax<T>(work: () => T): T {
  const { maxErrors } = Settings.Get()
  Settings.Set({ maxErrors: PROBLEMS_MAX })
  try {
    return work()
  } finally {
    Settings.Set({ maxErrors })
  }
}
