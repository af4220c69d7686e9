/** Owns compiling the examples of READMEs, each as a file beside its README, all in one program that writes nothing. */
import { join } from 'node:path'
import ts from 'typescript'
import type { Problem } from './repo.ts'

export interface Example {
  /** README, relative to the root. */
  readonly path: string
  readonly text: string
}

function optionsOf(root: string): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => ts.sys.readFile(path)) as {
    config: unknown
  }
  return ts.parseJsonConfigFileContent(config, ts.sys, root).options
}

/** What the compiler says about each example. An example may declare names that it does not use. */
export function exampleProblems(root: string, examples: readonly Example[]): Problem[] {
  const texts = new Map(
    examples.map(({ path, text }) => [join(root, path.replace(/\.md$/, '.use.ts')), { path, text }]),
  )
  const disk = ts.createCompilerHost(optionsOf(root))
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (name) => texts.has(name) || disk.fileExists(name),
    readFile: (name) => texts.get(name)?.text ?? disk.readFile(name),
    getSourceFile: (name, target, onError, create) => {
      const example = texts.get(name)
      if (example === undefined) return disk.getSourceFile(name, target, onError, create)
      // `export {}` makes it a module even when it imports nothing.
      return ts.createSourceFile(name, `${example.text}\nexport {}\n`, target)
    },
  }
  const program = ts.createProgram([...texts.keys()], { ...optionsOf(root), noEmit: true }, host)
  return [...texts].flatMap(([name, { path }]) => {
    const file = program.getSourceFile(name)
    if (file === undefined) return []
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
    return found.map((diagnostic): Problem => {
      const { line } = file.getLineAndCharacterOfPosition(diagnostic.start ?? 0)
      const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')
      return { path, problem: `line ${line + 1} of its use: ${message}`, instead: 'show code that compiles' }
    })
  })
}
