/** Owns which hosts a pattern covers: `name`, `*.name` for all below it, `*` for all, each with or without `:port`. */

/** True when all that `wanted`, a host or itself a pattern, stands for is allowed by `pattern`. */
export function covers(pattern: string, wanted: string): boolean {
  const [allowed, asked] = [parted(pattern), parted(wanted)]
  if (allowed.port !== undefined && allowed.port !== asked.port) return false
  if (allowed.name === '*' || allowed.name === asked.name) return true
  return allowed.name.startsWith('*.') && asked.name.endsWith(allowed.name.slice(1))
}

function parted(pattern: string): { readonly name: string; readonly port: string | undefined } {
  const { name = pattern, port } = /^(?<name>.*[^:]):(?<port>\d+)$/.exec(pattern)?.groups ?? {}
  return { name: name.toLowerCase(), port }
}
