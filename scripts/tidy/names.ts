/** Owns the names of files and the shape of a package: reserved names, their synonyms, and what an index may hold. */
import ts from 'typescript'
import { lineOf, type Package, type Problem, type SourceFile, syntaxOf } from './repo.ts'

/** A name that may not exist, and the one that may. */
export const synonyms: Readonly<Record<string, string>> = {
  error: 'errors',
  exceptions: 'errors',
  failures: 'errors',
  type: 'types',
  typings: 'types',
  interfaces: 'types',
  models: 'types',
  event: 'events',
  prompts: 'prompt',
  strings: 'prompt',
  contracts: 'contract',
  spec: 'contract',
  entry: 'plugin',
  plugins: 'plugin',
  setup: 'plugin',
  mod: 'index',
  config: 'plugin',
  options: 'plugin',
}

/** A name that says nothing: the file is named after the one concept that it owns. */
export const empty = ['utils', 'util', 'helpers', 'helper', 'common', 'shared', 'misc', 'lib', 'manager', 'constants']

/** What the file that is the plugin may be asked for by its loader. */
const pluginParts = ['name', 'apply']

function nameProblem(file: SourceFile): Problem | undefined {
  const parts = file.path.split('/').slice(3)
  for (const part of parts) {
    const word = part.replace(/\.(sim\.test|test|slow\.test)?\.?\w+$/, '')
    const synonym = synonyms[word]
    if (synonym !== undefined && parts[0] === 'src') {
      return { path: file.path, problem: `${part} is a synonym`, instead: `name it ${synonym}.ts` }
    }
    const bare = empty.find((name) => word === name || word.endsWith(`-${name}`))
    if (bare !== undefined) {
      return { path: file.path, problem: `${bare} says nothing`, instead: 'name it after the one concept that it owns' }
    }
  }
  return undefined
}

function exportedNames(tree: ts.SourceFile): Set<string> {
  const names = new Set<string>()
  for (const node of tree.statements) {
    if (!ts.isExportDeclaration(node) || node.exportClause === undefined || !ts.isNamedExports(node.exportClause))
      continue
    for (const element of node.exportClause.elements) names.add(element.name.text)
  }
  return names
}

/** The words of a package are all public, so its types may be exported as a whole. */
function isAllTypes(node: ts.ExportDeclaration): boolean {
  const from = node.moduleSpecifier
  return node.isTypeOnly && from !== undefined && ts.isStringLiteral(from) && from.text === './types.ts'
}

function indexProblems(file: SourceFile, hasPlugin: boolean): Problem[] {
  const tree = syntaxOf(file)
  const problems: Problem[] = []
  for (const node of tree.statements) {
    const at = { path: file.path, line: lineOf(node) }
    const isImportOfTypes = ts.isImportDeclaration(node) && node.importClause === undefined
    if (ts.isExportDeclaration(node)) {
      const named = node.exportClause !== undefined || isAllTypes(node)
      if (!named) problems.push({ ...at, problem: 'exports everything of a file', instead: 'name each export' })
    } else if (!isImportOfTypes) {
      problems.push({ ...at, problem: 'an index holds code', instead: 'move it to the file of its concept' })
    }
  }
  const names = exportedNames(tree)
  const missing = hasPlugin ? pluginParts.filter((part) => !names.has(part)) : []
  if (missing.length > 0) {
    const problem = `does not export ${missing.join(' and ')} of plugin.ts`
    problems.push({
      path: file.path,
      problem,
      instead: 'export the parts of the plugin, so that the namespace is the plugin',
    })
  }
  return problems
}

function manifestProblems(pack: Package, nodeRange: string): Problem[] {
  const path = `${pack.path}/package.json`
  const { name, description = '', license, engines } = pack.manifest
  const wanted = `@sluice/${pack.folder}`
  const problems: Problem[] = []
  if (name !== wanted) problems.push({ path, problem: `is named ${name}`, instead: `name it ${wanted}` })
  if (!description.endsWith('.')) {
    problems.push({
      path,
      problem: 'has no sentence as description',
      instead: 'write the first sentence of its README',
    })
  }
  if (license !== 'MIT') problems.push({ path, problem: `has the licence ${license}`, instead: 'MIT' })
  if (engines?.node !== nodeRange) problems.push({ path, problem: 'asks for another Node', instead: nodeRange })
  return problems
}

/** `nodeRange` is the Node that the root manifest asks for. */
export function nameProblems(packages: readonly Package[], nodeRange: string): Problem[] {
  return packages.flatMap((pack) => {
    const index = pack.files.find((file) => file.path === `${pack.path}/src/index.ts`)
    const hasPlugin = pack.files.some((file) => file.path === `${pack.path}/src/plugin.ts`)
    return [
      ...pack.files.flatMap((file) => nameProblem(file) ?? []),
      ...(index === undefined ? [] : indexProblems(index, hasPlugin)),
      ...manifestProblems(pack, nodeRange),
    ]
  })
}
