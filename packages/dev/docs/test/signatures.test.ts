import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { signaturesIn } from '../src/index.ts'

function written(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-signatures-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const expected = {
  'a/ask': '(what: string, next: () => Awaitable<Yes | No>) => Awaitable<Yes | No>',
  'a/tell': '(what: string, how: { deep: number }) => void',
  'a/weigh': '(next: () => Promise<1>) => Awaitable<number>',
}
const events = new Set(Object.keys(expected))

it('the types of listeners are read from source, through the files of a module', () => {
  const folder = written({
    'index.ts': "export { a } from './emitted.ts'\nexport const other = { 'b/ask': f<[no: 1]>('') }\n",
    'emitted.ts': `import './index.ts'
export const a = defineEvents('a', {
  'a/ask': waterfall<[what: string], Yes | No>('Asked.'),
  'a/tell': notification<[
    what: string,
    how: { deep: number },
  ]>('Told.'),
  'a/weigh': waterfall<[], number, Promise<1>>('Weighed.'),
})
`,
  })
  expect(Object.fromEntries(signaturesIn([join(folder, 'index.ts')], events))).toEqual(expected)
})

it('the types of listeners are read from emitted declaration files beside the code', () => {
  const folder = written({
    'index.js': '',
    'index.d.ts': "export { a } from './emitted.ts'\n",
    'emitted.d.ts': `export declare const a: import("x").EventTable<{
  'a/ask': import("x").Waterfall<[what: string], Yes | No, import("x").Awaitable<Yes | No>>;
  'a/tell': Notification<[what: string, how: { deep: number }]>;
  'a/weigh': Waterfall<[], number, Promise<1>>;
}>;
`,
  })
  expect(Object.fromEntries(signaturesIn([join(folder, 'index.js')], events))).toEqual(expected)
})

it('a module without types has none', () => {
  const folder = written({ 'index.mjs': "export const a = { emitter: 'a', events: {} }\n" })
  expect([...signaturesIn([join(folder, 'index.mjs'), join(folder, 'absent.js')], events)]).toEqual([])
})
