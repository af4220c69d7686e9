/** Owns mutants: the places of a source file where one guard can be taken out, and the text in which each can be switched on. */
import ts from 'typescript'

const swaps = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
])

/** Calls that only guard their argument. */
const passed = new Set(['Object.freeze'])

function inConstructor(node) {
  for (let up = node.parent; up; up = up.parent) if (ts.isFunctionLike(up)) return ts.isConstructorDeclaration(up)
  return false
}

/** What can be done to `node`: `[operator, text in its place]`, or `'drop'` for a statement. */
function changesOf(node, own) {
  if (ts.isIfStatement(node.parent ?? node) && node.parent.expression === node)
    return [
      ['never', 'false'],
      ['always', 'true'],
    ]
  if (ts.isConditionalExpression(node.parent ?? node) && node.parent.condition === node)
    return [
      ['never', 'false'],
      ['always', 'true'],
    ]
  if (ts.isBinaryExpression(node) && swaps.has(node.operatorToken.kind)) {
    const other = swaps.get(node.operatorToken.kind)
    return [[other, `(${own(node.left)}) ${other} (${own(node.right)})`]]
  }
  if (ts.isThrowStatement(node)) return [['no throw', 'drop']]
  if (ts.isExpressionStatement(node)) {
    const { expression } = node
    const inner =
      ts.isVoidExpression(expression) || ts.isAwaitExpression(expression) ? expression.expression : expression
    const calls = ts.isCallExpression(inner) && inner.expression.kind !== ts.SyntaxKind.SuperKeyword
    const assigns =
      (ts.isBinaryExpression(inner) && ts.isAssignmentOperator(inner.operatorToken.kind)) ||
      ts.isPostfixUnaryExpression(inner) ||
      ts.isDeleteExpression(inner)
    if (calls || (assigns && !inConstructor(node))) return [['dropped', 'drop']]
  }
  if (ts.isCallExpression(node)) {
    const callee = own(node.expression)
    if (passed.has(callee) && node.arguments.length === 1) return [['unguarded', own(node.arguments[0])]]
    if (callee.endsWith('.toWellFormed') && ts.isPropertyAccessExpression(node.expression))
      return [['unguarded', own(node.expression.expression)]]
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword)
    return [['flipped', node.kind === ts.SyntaxKind.TrueKeyword ? 'false' : 'true']]
  return []
}

/** Mutants of one file, numbered from `first`, and its text with a switch `__mutant(n)` at each place. */
export function mutantsOf(file, text, first) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const own = (node) => text.slice(node.getStart(source), node.end)
  const mutants = []
  const seen = new Map()
  const add = (node, operator, to) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
    const what = own(node).replace(/\s+/g, ' ').slice(0, 120)
    const name = `${file} | ${operator} | ${what}`
    const nth = (seen.get(name) ?? 0) + 1
    seen.set(name, nth)
    const id = first + mutants.length
    mutants.push({ id, file, line: line + 1, operator, what, key: nth === 1 ? name : `${name} | ${nth}`, to })
    return id
  }
  const render = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return own(node)
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return own(node)
    const changes = node === source ? [] : changesOf(node, own)
    const ids = changes.map(([operator, to]) => [add(node, operator, to), to])
    let out = ''
    let at = node.getStart(source)
    ts.forEachChild(node, (child) => {
      const start = child.getStart(source)
      if (start < at) return
      out += text.slice(at, start) + render(child)
      at = child.end
    })
    out += text.slice(at, node.end)
    for (const [id, to] of ids.toReversed())
      out = to === 'drop' ? `{ if (!__mutant(${id})) { ${out} } }` : `(__mutant(${id}) ? (${to}) : (${out}))`
    return out
  }
  const rendered = text.slice(0, source.getStart(source)) + render(source)
  return { mutants, text: rendered }
}
