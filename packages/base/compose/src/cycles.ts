/** Owns finding circles in a graph of names. */

/** A shortest way from `start` back to itself, both ends named. */
function wayBack(start: string, graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    for (const next of graph.get(name) ?? []) {
      if (next === start) {
        const way = [start]
        for (let at: string | undefined = name; at !== undefined && at !== start; at = cameFrom.get(at)) way.push(at)
        return [...way, start].reverse()
      }
      if (cameFrom.has(next)) continue
      cameFrom.set(next, name)
      queue.push(next)
    }
  }
  return undefined
}

/** One circle for each name that is in one, without those already shown; each starts and ends with its smallest name. */
export function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const shown = new Set<string>()
  const cycles: string[][] = []
  for (const name of [...graph.keys()].sort()) {
    if (shown.has(name)) continue
    const way = wayBack(name, graph)
    if (way === undefined) continue
    for (const member of way) shown.add(member)
    cycles.push(way)
  }
  return cycles
}
