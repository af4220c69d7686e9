import { describe, expect, it } from 'vitest'
import { contentProblems, FILE_LINES_MAX, lockProblems } from '../tidy/texts.ts'

const check = (text: string, path = 'docs/a.md') => contentProblems([{ path, text }]).map(({ problem }) => problem)

describe('the rule of texts', () => {
  it.each(['in /home/anna/a', '~ is /root/a', 'open /Users/anna'])('finds a path of one machine in %j', (text) => {
    expect(check(text)).toHaveLength(1)
  })

  it.each(['/proj/a.ts', '/home/user/a', '/tmp/a', 'https://host/home/page', 'a/root/b'])('lets pass %j', (text) => {
    expect(check(text)).toEqual([])
  })

  it('finds the host of a registry', () => {
    const host = ['registry', 'npmjs', 'org'].join('.')
    expect(check(`registry=https://${host}/`)).toEqual([`names ${host}`])
  })

  it.each(['it.only("a", f)', 'it.skip("a", f)', 'describe.skip("a", f)', 'it.todo("a")', 'it.only.each([])("a", f)'])(
    'finds tests that are switched off by %j',
    (text) => {
      expect(check(text, 'packages/a/b/test/a.test.ts')).toHaveLength(1)
    },
  )

  it('lets a test talk about skipping', () => {
    expect(check("it('may skip', () => list.skip(1))", 'packages/a/b/test/a.test.ts')).toEqual([])
  })

  it('finds a code file with too many lines', () => {
    expect(check('a\n'.repeat(FILE_LINES_MAX), 'packages/a/b/src/a.ts')).toEqual([])
    expect(check('a\n'.repeat(FILE_LINES_MAX + 1), 'packages/a/b/src/a.ts')).toHaveLength(1)
  })

  it('finds a second copy of the framework', () => {
    const lock = (...copies: string[]) => ({
      path: 'pnpm-lock.yaml',
      text: ['packages:', '', 'snapshots:', ...copies.map((copy) => `  '@deepseek-ai/cordis@${copy}':`)]
        .join('\n')
        .replace('packages:\n', 'packages:'),
    })
    expect(lockProblems(lock('4.0.4'))).toEqual([])
    expect(lockProblems(lock('4.0.4', '4.0.4(peer@1.0.0)'))).toHaveLength(1)
    expect(lockProblems(lock())).toHaveLength(1)
  })
})
