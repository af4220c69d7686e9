/** Owns running a contract suite: cases that every implementation of a port must pass. */

/** One case. `Subject` is what the suite is about, made fresh for each case. */
export interface ContractCase<Subject> {
  readonly title: string
  run(subject: Subject): void | Promise<void>
}

/** The functions of a test runner that a suite needs; those of vitest and node:test fit. */
export interface TestRunner {
  it(title: string, body: () => Promise<void>): unknown
  describe?(title: string, body: () => void): unknown
}

export interface ContractOptions<Subject> {
  readonly title?: string
  /** Run after each case, failed or not. */
  readonly dispose?: (subject: Subject) => void | Promise<void>
}

/** Registers one test per case; each gets a subject of its own from `make`. */
export function runContract<Subject>(
  cases: readonly ContractCase<Subject>[],
  make: () => Subject | Promise<Subject>,
  runner: TestRunner,
  options: ContractOptions<Subject> = {},
): void {
  const register = () => {
    for (const each of cases) {
      runner.it(each.title, async () => {
        const subject = await make()
        try {
          await each.run(subject)
        } finally {
          await options.dispose?.(subject)
        }
      })
    }
  }
  if (options.title !== undefined && runner.describe) runner.describe(options.title, register)
  else register()
}
