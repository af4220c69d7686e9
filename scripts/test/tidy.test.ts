import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
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

  describe('compiles the examples of its READMEs:', () => {
    // One program for all of them: the two below tell that a bad one would be found.
    const good = {
      path: 'packages/base/base/good.md',
      text: "import { assert } from '@sluice/base'\nassert(true, 'is')\n",
    }
    const bad = { path: 'packages/base/base/bad.md', text: "import { assert } from '@sluice/base'\n\nassert(true)\n" }
    let problems: Problem[] = []
    beforeAll(() => {
      const own = packages.flatMap((pack) => {
        const readme = readmeOf(pack)
        return readme?.use === undefined ? [] : [{ path: readme.path, text: readme.use }]
      })
      problems = exampleProblems(root, [...own, good, bad])
    }, 120_000)

    it('each of them compiles', () => {
      expectNone(problems.filter(({ path }) => path !== bad.path))
    })

    it('one that does not is found, with its line', () => {
      const problem = 'line 3 of its use: Expected 2 arguments, but got 1.'
      expect(problems.filter(({ path }) => path === bad.path)).toEqual([
        { path: bad.path, problem, instead: 'show code that compiles' },
      ])
    })
  })

  it('holds no path of one machine, no registry host, no test that is switched off and no file that is too long', () => {
    expectNone(contentProblems(files))
  })

  it('installs one copy of the framework', () => {
    expectNone(lockProblems(fileAt('pnpm-lock.yaml')))
  })
})
