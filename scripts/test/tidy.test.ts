import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ambientProblems, exceptions } from '../tidy/ambient.ts'
import { errorCodes, errorProblems } from '../tidy/errors.ts'
import { exampleProblems } from '../tidy/examples.ts'
import { layerProblems } from '../tidy/layers.ts'
import { nameProblems } from '../tidy/names.ts'
import { readmeOf, readmeProblems } from '../tidy/readme.ts'
import { type Manifest, packagesOf, type Problem, repositoryFiles } from '../tidy/repo.ts'
import { contentProblems, lockProblems } from '../tidy/texts.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = repositoryFiles(root)
const packages = packagesOf(files)

function expectNone(problems: readonly Problem[]) {
  const lines = problems.map(({ path, line, problem, instead }) => {
    return `${path}${line === undefined ? '' : `:${line}`} ${problem}; instead: ${instead}`
  })
  expect(lines, lines.join('\n')).toEqual([])
}

function fileAt(path: string) {
  const file = files.find((candidate) => candidate.path === path)
  if (file === undefined) throw new Error(`there is no ${path}`)
  return file
}

describe('the repository', () => {
  it('imports in one direction only', () => {
    expect(packages.length).toBeGreaterThan(20)
    expectNone(layerProblems(packages))
  })

  it('names its files and packages as agreed', () => {
    const { engines } = JSON.parse(fileAt('package.json').text) as Manifest
    expectNone(nameProblems(packages, engines?.node ?? ''))
  })

  it('reaches the outside through the World alone', () => {
    expectNone(ambientProblems(packages))
  })

  it('lists no exception for a file that is gone', () => {
    const known = new Set(files.map((file) => file.path))
    expect(exceptions.filter((exception) => !known.has(exception.path))).toEqual([])
  })

  it('provokes each error code in a test', () => {
    expectNone(errorProblems(packages, files))
  })

  it('keeps the promises of its READMEs', () => {
    const codes = new Set(errorCodes(packages).map(({ code }) => code))
    const contracts = files.filter((file) => file.path.endsWith('contract.ts'))
    expectNone(readmeProblems(packages, codes, contracts))
  })

  it('shows examples that compile', { timeout: 120_000 }, () => {
    const examples = packages.flatMap((pack) => {
      const readme = readmeOf(pack)
      return readme?.use === undefined ? [] : [{ path: readme.path, text: readme.use }]
    })
    expectNone(exampleProblems(root, examples))
  })

  it('holds no path of one machine, no registry host, no test that is switched off and no file that is too long', () => {
    expectNone(contentProblems(files))
  })

  it('installs one copy of the framework', () => {
    expectNone(lockProblems(fileAt('pnpm-lock.yaml')))
  })
})
