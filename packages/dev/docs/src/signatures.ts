/** Owns reading the types of listeners from the declarations of events, as source or emitted declaration files have them. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/** The file that has the types of `file`: itself where that is source, else the declarations beside it. */
function typesOf(file: string): string | undefined {
  const candidates = [file, file.replace(/\.([cm]?)[jt]s$/, '.d.$1ts')]
  return candidates.find((candidate) => /\.[cm]?ts$/.test(candidate) && existsSync(candidate))
}

function propertiesOf(node: ts.Node, found: [string, string][]): void {
  if ((ts.isPropertyAssignment(node) || ts.isPropertySignature(node)) && ts.isStringLiteral(node.name)) {
    const made = ts.isPropertyAssignment(node) ? node.initializer : node.type
    if (
      made !== undefined &&
      (ts.isCallExpression(made) || ts.isTypeReferenceNode(made) || ts.isImportTypeNode(made))
    ) {
      const [facts, answer, next = `Awaitable<${answer}>`] = (made.typeArguments ?? []).map(textOf)
      if (facts !== undefined) found.push([node.name.text, signatureOf(facts, answer, next)])
    }
  }
  ts.forEachChild(node, (child) => propertiesOf(child, found))
}

/** In one line, with names as they are, from wherever an emitted file has them. */
function textOf(node: ts.Node): string {
  return node
    .getText()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\bimport\("[^"]*"\)\./g, '')
}

/** `facts` is a tuple type. */
function signatureOf(facts: string, answer: string | undefined, next: string): string {
  const taken = facts.replace(/^\[ ?/, '').replace(/,? ?\]$/, '')
  if (answer === undefined) return `(${taken}) => void`
  return `(${taken}${taken === '' ? '' : ', '}next: () => ${next}) => Awaitable<${answer}>`
}

/** The type of the listener of each of `events` that is declared in one of the modules, whose main files are given. */
export function signaturesIn(files: readonly string[], events: ReadonlySet<string>): Map<string, string> {
  const found = new Map<string, string>()
  const waiting = files.flatMap((file) => typesOf(file) ?? [])
  const seen = new Set<string>()
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    const text = readFileSync(file, 'utf8')
    for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
      const part = fileName.startsWith('.') ? typesOf(join(dirname(file), fileName)) : undefined
      if (part !== undefined) waiting.push(part)
    }
    const properties: [string, string][] = []
    propertiesOf(ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true), properties)
    for (const [name, signature] of properties) if (events.has(name)) found.set(name, signature)
  }
  return found
}
