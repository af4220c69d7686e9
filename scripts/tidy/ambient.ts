/** Owns the ban on reaching the outside from where it cannot be simulated, with the replacement for each way. */
import ts from 'typescript'
import {
  importsOf,
  isCode,
  isTest,
  lineOf,
  type Package,
  type Problem,
  type SourceFile,
  syntaxOf,
  walk,
} from './repo.ts'

/** Layers that may touch the outside: the adapters, and what is never shipped. */
const freeLayers = ['adapter', 'dev']

/** Global names, alone or with a member, and what to take instead. */
export const globals: Readonly<Record<string, string>> = {
  'Date.now': 'ctx.world.clock.now()',
  'performance.now': 'ctx.world.clock.monotonic()',
  'Math.random': 'ctx.world.random',
  'crypto.randomUUID': 'mintId of @sluice/base',
  'crypto.getRandomValues': 'ctx.world.random.bytes()',
  'AbortSignal.timeout': 'ctx.world.clock.timer()',
  setTimeout: 'ctx.world.clock.timer()',
  setInterval: 'ctx.world.clock.timer()',
  setImmediate: 'ctx.world.clock.timer()',
  process: 'ctx.world.host, ctx.world.processes',
  fetch: 'ctx.world.network.fetch()',
  XMLHttpRequest: 'ctx.world.network.fetch()',
  WebSocket: 'ctx.world.network',
  console: 'ctx.logger',
}

/** Modules, and what to take instead. */
export const modules: Readonly<Record<string, string>> = {
  fs: 'ctx.world.disk',
  'fs/promises': 'ctx.world.disk',
  child_process: 'ctx.world.processes',
  timers: 'ctx.world.clock',
  'timers/promises': 'ctx.world.clock',
  os: 'ctx.world.host',
  process: 'ctx.world.host',
  perf_hooks: 'ctx.world.clock.monotonic()',
  net: 'ctx.world.network',
  http: 'ctx.world.network',
  https: 'ctx.world.network',
  http2: 'ctx.world.network',
  dgram: 'ctx.world.network',
  dns: 'ctx.world.network',
  tls: 'ctx.world.network',
  worker_threads: 'an adapter',
  cluster: 'an adapter',
  vm: 'an adapter',
  readline: 'the streams that the host was started with',
  tty: 'the streams that the host was started with',
}

/** Named imports of node:crypto that are not pure. */
const randomImports = /^random|^getRandom/

export interface Exception {
  readonly path: string
  /** Keys of the two tables above. */
  readonly uses: readonly string[]
  readonly why: string
}

/** Every place outside an adapter that may reach the outside. */
export const exceptions: readonly Exception[] = [
  {
    path: 'packages/host/cli/src/main.ts',
    uses: ['process'],
    why: 'a program has arguments',
  },
  {
    path: 'packages/host/cli/src/node-terminal.ts',
    uses: ['process', 'readline', 'setImmediate'],
    why: 'a program has streams, lines of input, keys that were pressed before, Ctrl-C and an exit code',
  },
]

/** Names that the file itself declares or imports: they hide the global of that name. */
function declaredNames(tree: ts.SourceFile): Set<string> {
  const names = new Set<string>()
  for (const node of walk(tree)) {
    const declares =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isBindingElement(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isImportSpecifier(node) ||
      ts.isImportClause(node) ||
      ts.isNamespaceImport(node)
    if (declares && node.name !== undefined && ts.isIdentifier(node.name)) names.add(node.name.text)
  }
  return names
}

/** True for a name that is read as a variable: no member, key, label, type or declaration. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node
  if (ts.isShorthandPropertyAssignment(parent)) return true
  if (ts.isTypeNode(parent) || ts.isQualifiedName(parent) || ts.isTypeElement(parent)) return false
  return !ts.isMethodDeclaration(parent) && !ts.isPropertyDeclaration(parent) && !ts.isExportSpecifier(parent)
}

function usedGlobals(file: SourceFile): { readonly use: string; readonly line: number }[] {
  const tree = syntaxOf(file)
  const own = declaredNames(tree)
  const found: { use: string; line: number }[] = []
  for (const node of walk(tree)) {
    if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments ?? []).length === 0) {
      found.push({ use: 'Date.now', line: lineOf(node) })
    }
    if (!ts.isIdentifier(node) || !isReference(node)) continue
    const outer = node.text === 'globalThis' && ts.isPropertyAccessExpression(node.parent) ? node.parent : undefined
    const base = outer === undefined ? node.text : outer.name.text
    if (outer === undefined && own.has(base)) continue
    const around = (outer ?? node).parent
    const member = ts.isPropertyAccessExpression(around) ? `${base}.${around.name.text}` : undefined
    const use = [base, member].find((name) => name !== undefined && Object.hasOwn(globals, name))
    if (use !== undefined) found.push({ use, line: lineOf(node) })
  }
  return found
}

function usedModules(file: SourceFile): { readonly use: string; readonly line: number }[] {
  const used = importsOf(file).map(({ name, line }) => ({ use: name.replace(/^node:/, ''), line }))
  const random: { use: string; line: number }[] = []
  for (const node of walk(syntaxOf(file))) {
    const named = ts.isImportSpecifier(node) ? (node.propertyName ?? node.name).text : ''
    const member = ts.isPropertyAccessExpression(node) ? node.name.text : ''
    const fromCrypto = used.some(({ use }) => use === 'crypto')
    if (fromCrypto && (randomImports.test(named) || randomImports.test(member))) {
      random.push({ use: 'Math.random', line: lineOf(node) })
    }
  }
  return [...used.filter(({ use }) => Object.hasOwn(modules, use)), ...random]
}

export function ambientProblems(packages: readonly Package[], allowed: readonly Exception[] = exceptions): Problem[] {
  const shipped = packages.filter((pack) => !freeLayers.includes(pack.layer))
  return shipped.flatMap((pack) =>
    pack.files
      .filter((file) => isCode(file.path) && !isTest(file.path))
      .flatMap((file) => {
        const permitted = allowed.find((exception) => exception.path === file.path)?.uses ?? []
        return [...usedGlobals(file), ...usedModules(file)]
          .filter(({ use }) => !permitted.includes(use))
          .map(({ use, line }) => ({
            path: file.path,
            line,
            problem: `reaches the outside through ${use}`,
            instead: `take ${globals[use] ?? modules[use]}`,
          }))
      }),
  )
}
