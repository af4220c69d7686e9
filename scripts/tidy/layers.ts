/** Owns the import direction: one array, compared with every manifest and every import. */
import { importsOf, isCode, isTest, type Package, type Problem, type SourceFile } from './repo.ts'

interface Layer {
  readonly layer: string
  /** Layers below it, which it may import. */
  readonly below: readonly string[]
  /** Its own packages in import order: each may import those before it. Without a list it imports none of its kind. */
  readonly order?: readonly string[]
}

const foundations = ['base', 'core']
const parts = ['policy', 'tool', 'adapter']

/** The one place that states who may import whom. */
export const layers: readonly Layer[] = [
  { layer: 'base', below: [], order: ['base', 'pipeline', 'listeners', 'compose'] },
  {
    layer: 'core',
    below: ['base'],
    order: ['session', 'llm', 'tools', 'approval', 'fs', 'sandbox', 'code-mode', 'agent', 'graph'],
  },
  ...parts.map((layer) => ({ layer, below: foundations })),
  { layer: 'host', below: [...foundations, ...parts] },
  { layer: 'dev', below: [...foundations, ...parts, 'host'], order: ['testkit', 'docs', 'bench'] },
]

interface Place {
  readonly layer: string
  readonly folder: string
}

/** Why `from` may not import `to`, or nothing when it may. */
export function whyNot(from: Place, to: Place): string | undefined {
  const rule = layers.find((candidate) => candidate.layer === from.layer)
  if (rule === undefined) return `the layer ${from.layer} is not in the order`
  if (rule.below.includes(to.layer)) return undefined
  if (from.layer !== to.layer) return `${from.layer} may not import ${to.layer}`
  if (rule.order === undefined) return `a package of ${from.layer} imports no other of its kind`
  const [own, other] = [rule.order.indexOf(from.folder), rule.order.indexOf(to.folder)]
  if (own < 0 || other < 0) return `${own < 0 ? from.folder : to.folder} has no place in the order of ${from.layer}`
  return other < own ? undefined : `${from.folder} stands above ${to.folder} in the order of ${from.layer}`
}

const INSTEAD = 'import in the direction host → tool, policy, adapter → core → base (scripts/tidy/layers.ts)'

export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function checkManifest(pack: Package, byName: ReadonlyMap<string, Package>): Problem[] {
  const path = `${pack.path}/package.json`
  return Object.keys({ ...pack.manifest.dependencies, ...pack.manifest.peerDependencies }).flatMap((name) => {
    const target = byName.get(name)
    const reason = target === undefined ? undefined : whyNot(pack, target)
    return reason === undefined ? [] : [{ path, problem: `depends on ${name}: ${reason}`, instead: INSTEAD }]
  })
}

function leavesPackage(file: SourceFile, specifier: string, pack: Package): boolean {
  if (!specifier.startsWith('.')) return false
  const target = new URL(specifier, `file:///${file.path}`).pathname
  return !target.startsWith(`/${pack.path}/`)
}

function checkFile(file: SourceFile, pack: Package, byName: ReadonlyMap<string, Package>): Problem[] {
  const { dependencies, peerDependencies, devDependencies } = pack.manifest
  const production = { ...dependencies, ...peerDependencies }
  const listed = isTest(file.path) ? { ...production, ...devDependencies } : production
  return importsOf(file).flatMap(({ name, line }): Problem[] => {
    const at = { path: file.path, line }
    if (leavesPackage(file, name, pack)) {
      return [{ ...at, problem: `${name} leaves the package`, instead: 'import the other package by its name' }]
    }
    const target = byName.get(packageOf(name))
    if (target === undefined || target === pack) return []
    const reason = isTest(file.path) ? undefined : whyNot(pack, target)
    if (reason !== undefined) return [{ ...at, problem: `imports ${name}: ${reason}`, instead: INSTEAD }]
    if (Object.hasOwn(listed, packageOf(name))) return []
    const list = isTest(file.path) ? 'devDependencies' : 'dependencies'
    return [{ ...at, problem: `imports ${name}, which its package does not list`, instead: `add it to ${list}` }]
  })
}

export function layerProblems(packages: readonly Package[]): Problem[] {
  const byName = new Map(packages.map((pack) => [pack.manifest.name ?? '', pack]))
  return packages.flatMap((pack) => [
    ...checkManifest(pack, byName),
    ...pack.files.filter((file) => isCode(file.path)).flatMap((file) => checkFile(file, pack, byName)),
  ])
}
