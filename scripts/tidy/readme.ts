/** Owns what a package's README must hold: its sentence, an example that compiles, promises with tests, codes that exist. */
import ts from 'typescript'
import { isCode, isTest, type Package, type Problem, type SourceFile, syntaxOf, walk } from './repo.ts'

/** Lines of the example in `## Use`. */
export const USE_LINES_MAX = 15

const sections = ['Use', 'Promises', 'Refuses', 'Elsewhere']

export interface Readme {
  readonly path: string
  /** The paragraph below the title. */
  readonly sentence: string
  readonly sections: ReadonlyMap<string, string>
  /** The TypeScript of `## Use`, when there is a block. */
  readonly use: string | undefined
}

export function readmeOf(pack: Package): Readme | undefined {
  const file = pack.files.find((candidate) => candidate.path === `${pack.path}/README.md`)
  if (file === undefined) return undefined
  const [head = '', ...rest] = file.text.split(/^## /m)
  const byName = new Map(rest.map((text) => [text.slice(0, text.indexOf('\n')).trim(), text.slice(text.indexOf('\n'))]))
  const sentence =
    head
      .replace(/^# .*$/m, '')
      .trim()
      .split(/\n\s*\n/)[0]
      ?.replaceAll(/\s+/g, ' ') ?? ''
  const use = /^```ts\n([\s\S]*?)^```/m.exec(byName.get('Use') ?? '')?.[1]
  return { path: file.path, sentence, sections: byName, use }
}

function titleOf(node: ts.Node): string | undefined {
  if (ts.isPropertyAssignment(node) && node.name.getText() === 'title') return textOf(node.initializer)
  if (!ts.isCallExpression(node)) return undefined
  const callee = node.expression.getText()
  return /^(it|test)\b/.test(callee) ? textOf(node.arguments[0]) : undefined
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined
}

/** Titles of the tests of a package and of the contract cases that it runs or publishes. */
export function testTitles(files: readonly SourceFile[]): Set<string> {
  const titles = new Set<string>()
  for (const file of files) {
    if (!isCode(file.path) || !(isTest(file.path) || file.path.endsWith('contract.ts'))) continue
    for (const node of walk(syntaxOf(file))) {
      const title = titleOf(node)
      if (title !== undefined) titles.add(title)
    }
  }
  return titles
}

/** Bullets of a section, each with its continuation lines. */
function bulletsOf(section: string): string[] {
  const bullets = section.split(/^- /m).slice(1)
  return bullets.map((bullet) => (bullet.split(/\n\s*\n/)[0] ?? '').replaceAll(/\s+/g, ' ').trim())
}

function promiseProblems(readme: Readme, titles: ReadonlySet<string>): Problem[] {
  const instead = 'end the promise with the exact title of the test that proves it, in backticks'
  return bulletsOf(readme.sections.get('Promises') ?? '').flatMap((bullet): Problem[] => {
    const end = /((?:`[^`]+`[\s,;]*)+)\.?$/.exec(bullet)?.[1]
    if (end === undefined) return [{ path: readme.path, problem: `no test proves: ${bullet}`, instead }]
    const named = [...end.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')
    const unknown = named.filter((title) => !titles.has(title))
    return unknown.map((title) => ({ path: readme.path, problem: `there is no test with the title ${title}`, instead }))
  })
}

function refusalProblems(readme: Readme, codes: ReadonlySet<string>): Problem[] {
  const named = [...(readme.sections.get('Refuses') ?? '').matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)]
  return named
    .filter((match) => !codes.has(match[1] ?? ''))
    .map((match) => ({
      path: readme.path,
      problem: `there is no code ${match[1]}`,
      instead: 'name a code of an error table',
    }))
}

function shapeProblems(readme: Readme, pack: Package): Problem[] {
  const problems: Problem[] = []
  const { path } = readme
  if (readme.sentence.split(/(?<=\.)\s/)[0] !== pack.manifest.description) {
    const problem = `starts with "${readme.sentence}"`
    problems.push({ path, problem, instead: `the description in package.json: "${pack.manifest.description}"` })
  }
  for (const section of sections.filter((name) => !readme.sections.has(name))) {
    problems.push({ path, problem: `has no section ${section}`, instead: `add "## ${section}"` })
  }
  const lines = readme.use?.trimEnd().split('\n').length ?? 0
  if (lines === 0) problems.push({ path, problem: 'shows no use', instead: 'add a block of TypeScript to "## Use"' })
  if (lines > USE_LINES_MAX) {
    problems.push({ path, problem: `shows a use of ${lines} lines`, instead: `at most ${USE_LINES_MAX}` })
  }
  return problems
}

/** `contracts` are files whose contract cases any package may run. */
export function readmeProblems(
  packages: readonly Package[],
  codes: ReadonlySet<string>,
  contracts: readonly SourceFile[] = [],
): Problem[] {
  return packages.flatMap((pack) => {
    const readme = readmeOf(pack)
    if (readme === undefined) {
      const path = `${pack.path}/README.md`
      return [{ path, problem: 'is missing', instead: 'write one: sentence, Use, Promises, Refuses, Elsewhere' }]
    }
    const titles = testTitles([...pack.files, ...contracts])
    return [...shapeProblems(readme, pack), ...promiseProblems(readme, titles), ...refusalProblems(readme, codes)]
  })
}
