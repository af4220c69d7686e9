/** Owns the codes of expected failures: where they are defined, and that a test provokes each. */
import ts from 'typescript'
import { isCode, isTest, lineOf, type Package, type Problem, type SourceFile, syntaxOf, walk } from './repo.ts'

interface Code {
  readonly code: string
  readonly path: string
  readonly line: number
}

function codesIn(file: SourceFile): Code[] {
  const codes: Code[] = []
  for (const node of walk(syntaxOf(file))) {
    if (!ts.isCallExpression(node) || node.expression.getText() !== 'defineErrors') continue
    const table = node.arguments[0]
    if (table === undefined || !ts.isObjectLiteralExpression(table)) continue
    for (const row of table.properties) {
      const name =
        row.name !== undefined && (ts.isIdentifier(row.name) || ts.isStringLiteral(row.name)) ? row.name : undefined
      if (name !== undefined) codes.push({ code: name.text, path: file.path, line: lineOf(row) })
    }
  }
  return codes
}

/** Codes of every table that ships. */
export function errorCodes(packages: readonly Package[]): Code[] {
  return packages.flatMap((pack) =>
    pack.files.filter((file) => isCode(file.path) && !isTest(file.path)).flatMap(codesIn),
  )
}

/** Contract suites are tests too: they run wherever somebody implements the port. */
function provokes(file: SourceFile): boolean {
  return isCode(file.path) && (isTest(file.path) || file.path.endsWith('contract.ts'))
}

export function errorProblems(packages: readonly Package[], files: readonly SourceFile[]): Problem[] {
  const tests = files.filter(provokes).map((file) => file.text)
  const seen = new Map<string, Code>()
  return errorCodes(packages).flatMap((code): Problem[] => {
    const at = { path: code.path, line: code.line }
    const other = seen.get(code.code)
    seen.set(code.code, code)
    if (!/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/.test(code.code)) {
      return [{ ...at, problem: `${code.code} is no code`, instead: 'name it AREA_CONDITION' }]
    }
    if (other !== undefined) {
      return [
        { ...at, problem: `${code.code} is also defined in ${other.path}`, instead: 'give one of them another name' },
      ]
    }
    if (tests.some((text) => text.includes(code.code))) return []
    return [{ ...at, problem: `no test provokes ${code.code}`, instead: 'write one, or delete the code' }]
  })
}
