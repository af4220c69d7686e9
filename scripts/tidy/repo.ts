/** Owns what the tidy rules look at: the files of the repository, its packages, and the problems found in them. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** A text file; `path` is relative to the root, with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

export interface Manifest {
  readonly name?: string
  readonly description?: string
  readonly license?: string
  readonly engines?: { readonly node?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export interface Package {
  readonly layer: string
  /** Name of its folder. */
  readonly folder: string
  readonly path: string
  readonly manifest: Manifest
  readonly files: readonly SourceFile[]
}

/** One finding. `instead` says what to do. */
export interface Problem {
  readonly path: string
  readonly line?: number
  readonly problem: string
  readonly instead: string
}

const binary = /\.(png|jpg|gif|wasm|ico|zip|gz)$/

/** Every file that is tracked or would be: nothing that git ignores. */
export function repositoryFiles(root: string): SourceFile[] {
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (listed.status !== 0) throw new Error(`git ls-files failed: ${listed.stderr}`)
  const paths = listed.stdout.split('\0').filter((path) => path !== '' && !binary.test(path))
  return paths
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

export function packagesOf(files: readonly SourceFile[]): Package[] {
  return files.flatMap((file) => {
    const match = /^packages\/([^/]+)\/([^/]+)\/package\.json$/.exec(file.path)
    if (match === null) return []
    const [, layer = '', folder = ''] = match
    const path = `packages/${layer}/${folder}`
    const own = files.filter((other) => other.path.startsWith(`${path}/`))
    return [{ layer, folder, path, manifest: JSON.parse(file.text) as Manifest, files: own }]
  })
}

export function isCode(path: string): boolean {
  return /\.(ts|mts|tsx|mjs|js)$/.test(path) && !path.endsWith('.d.ts')
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.includes('/test/')
}

const parsed = new WeakMap<SourceFile, ts.SourceFile>()

export function syntaxOf(file: SourceFile): ts.SourceFile {
  const known = parsed.get(file)
  if (known !== undefined) return known
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true)
  parsed.set(file, tree)
  return tree
}

export function lineOf(node: ts.Node): number {
  const source = node.getSourceFile()
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
}

/** Every node below `node`, in order. */
export function* walk(node: ts.Node): Generator<ts.Node> {
  const children: ts.Node[] = []
  ts.forEachChild(node, (child) => {
    children.push(child)
  })
  for (const child of children) {
    yield child
    yield* walk(child)
  }
}

/** Modules that a file names, in imports, re-exports and import expressions, with their lines. */
export function importsOf(file: SourceFile): { readonly name: string; readonly line: number }[] {
  const found: { name: string; line: number }[] = []
  for (const node of walk(syntaxOf(file))) {
    let specifier: ts.Node | undefined
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) specifier = node.moduleSpecifier
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      specifier = node.arguments[0]
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) specifier = node.argument.literal
    if (specifier !== undefined && ts.isStringLiteral(specifier))
      found.push({ name: specifier.text, line: lineOf(node) })
  }
  return found
}
