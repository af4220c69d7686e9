/** Owns programs that get at what their world sends to the host. */

/** In a world that is written in the language of the program, a list that lacks its first number finds `forged` instead. */
function forge(forged: string): string {
  return `let given = false
    Object.defineProperty(Array.prototype, 0, {
      configurable: true,
      get: () => given ? ${JSON.stringify(forged)} : undefined,
      set(value) {
        if (typeof value === 'number') given = true
        else Object.defineProperty(this, 0, { value, writable: true, enumerable: true, configurable: true })
      },
    })
    await tools.echo(1).catch(() => {})
    tools.echo(2)`
}

/** A call of something that is no binding; more calls than a program may make. */
export const forging: readonly string[] = [
  forge('0,"map",{}],[5'),
  forge(`${Array.from({ length: 200 }, (_, i) => `${i},0,{}`).join('],[')}],[5`),
]
