/** Owns what no file may hold: paths of one machine, registry hosts, tests that are switched off, too many lines. */
import ts from 'typescript'
import { isCode, isTest, lineOf, type Problem, type SourceFile, syntaxOf, walk } from './repo.ts'

/** Lines of one code file. */
export const FILE_LINES_MAX = 350

const machinePaths = [/(?<![\w.~-])\/root\//, /(?<![\w.~-])\/home\/(?!user\b|me\b)/, /(?<![\w.~-])\/Users\/(?!me\b)/]

const registryHosts = /registry\.(npmjs|yarnpkg|npmmirror|npm\.taobao)\.\w+|npm\.pkg\.github\.com/

/** Describe the forbidden texts themselves. */
const ownFiles = ['scripts/tidy/texts.ts', 'scripts/test/tidy-texts.test.ts']

function textProblems(file: SourceFile): Problem[] {
  return file.text.split('\n').flatMap((text, index): Problem[] => {
    const at = { path: file.path, line: index + 1 }
    const path = machinePaths.map((pattern) => pattern.exec(text)?.[0]).find((match) => match !== undefined)
    const host = registryHosts.exec(text)?.[0]
    return [
      ...(path === undefined
        ? []
        : [{ ...at, problem: `holds the path ${path}`, instead: 'take a path that is given' }]),
      ...(host === undefined ? [] : [{ ...at, problem: `names ${host}`, instead: 'leave the registry to the user' }]),
    ]
  })
}

const switches = ['only', 'skip', 'todo', 'fails']
const runners = ['it', 'test', 'describe', 'bench', 'suite']

function switchedOff(file: SourceFile): Problem[] {
  const problems: Problem[] = []
  for (const node of walk(syntaxOf(file))) {
    if (!ts.isPropertyAccessExpression(node) || !switches.includes(node.name.text)) continue
    const root = node.expression.getText().split('.')[0] ?? ''
    if (!runners.includes(root)) continue
    const problem = `${node.getText()} switches tests off`
    problems.push({ path: file.path, line: lineOf(node), problem, instead: 'run every test, or delete it' })
  }
  return problems
}

function tooLong(file: SourceFile): Problem[] {
  const lines = file.text.split('\n').length - 1
  if (lines <= FILE_LINES_MAX) return []
  const problem = `has ${lines} lines, more than ${FILE_LINES_MAX}`
  return [{ path: file.path, problem, instead: 'look for its second concept and give it a file' }]
}

export function contentProblems(files: readonly SourceFile[]): Problem[] {
  return files
    .filter((file) => !ownFiles.includes(file.path))
    .flatMap((file) => [
      ...textProblems(file),
      ...(isCode(file.path) ? tooLong(file) : []),
      ...(isCode(file.path) && isTest(file.path) ? switchedOff(file) : []),
    ])
}

/** The name of the framework's package; two copies of it do not know each other's services. */
const FRAMEWORK = "'@deepseek-ai/cordis@"

export function lockProblems(lock: SourceFile): Problem[] {
  const snapshots = lock.text.split('\nsnapshots:\n')[1] ?? ''
  const copies = snapshots.split('\n').filter((line) => line.startsWith(`  ${FRAMEWORK}`))
  if (copies.length === 1) return []
  const problem = `installs ${copies.length} copies of the framework: ${copies.map((line) => line.trim()).join(' ')}`
  return [{ path: lock.path, problem, instead: 'let every package resolve the same one' }]
}
