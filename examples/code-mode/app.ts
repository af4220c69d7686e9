/** One program reads forty files, adds them up and edits three; one of its calls is denied, and it goes on. It checks itself. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as agent from '@sluice/agent'
import * as codeMode from '@sluice/code-mode'
import * as quickjs from '@sluice/code-quickjs'
import * as fs from '@sluice/fs'
import * as llm from '@sluice/llm'
import * as readBeforeEdit from '@sluice/read-before-edit'
import * as sessions from '@sluice/session'
import { scriptedModel } from '@sluice/testkit'
import * as toolFs from '@sluice/tool-fs'
import * as tools from '@sluice/tools'
import * as workspace from '@sluice/workspace'
import * as world from '@sluice/world-node'
import { Context } from 'cordis'
import { program } from './program.ts'

const folder = await mkdtemp(join(tmpdir(), 'sluice-code-mode-'))
const late = new Set([7, 19, 33])
const names = Array.from({ length: 40 }, (_, i) => `invoice-${String(i + 1).padStart(2, '0')}.txt`)
for (const [i, name] of names.entries())
  await writeFile(join(folder, name), `amount: ${(i + 1) * 10}\nstatus: ${late.has(i + 1) ? 'overdue' : 'paid'}\n`)

const ctx = new Context()
for (const plugin of [world, sessions.memoryStorePlugin, sessions, llm, agent, fs]) await ctx.plugin(plugin)
// Nobody is here to be asked: what no policy objects to is allowed. The workspace policy keeps every path inside the folder.
await ctx.plugin(tools, { otherwise: 'allow' })
for (const plugin of [workspace, readBeforeEdit, toolFs, quickjs]) await ctx.plugin(plugin)
await ctx.plugin(codeMode, { mode: 'code' })

// The model is a script here: it writes the program, then reports what came back.
const script = scriptedModel([
  { calls: [{ name: 'run_code', args: { program, description: 'Remind whoever is overdue' } }] },
  ({ messages }) => {
    const [part] = messages.at(-1)?.content ?? []
    return part?.type === 'text' ? part.text : ''
  },
])
ctx.llm.register('script', script)
const session = await ctx.sessions.create({ cwd: folder })
const turn = await ctx.agents
  .create({ session, model: 'script/any' })
  .send('Add up the invoices; remind whoever is overdue.')

const report = JSON.parse(turn.text) as { total: number; reminded: string[]; refused: string }
const nested = session.events.filter((event) => event.type === 'tool/code-dispatch').length / 2
console.log(`total ${report.total}, reminded ${report.reminded.join(', ')}`)
console.log(`refused inside the program: ${report.refused}`)
console.log(
  `${nested} calls in ${script.requests.length} model requests; one call a request would have taken ${nested + 1}: ${nested + 1 - script.requests.length} saved`,
)

// In mode code the model is offered nothing but programs.
assert.deepEqual(
  script.requests[0]?.tools.map(({ name }) => name),
  ['run_code'],
)
assert.equal(report.total, 8200)
assert.deepEqual(report.reminded, ['invoice-07.txt', 'invoice-19.txt', 'invoice-33.txt'])
assert.match(report.refused, /denied|outside|refused/i)
assert.equal(nested, 45)
for (const [i, name] of names.entries()) {
  const status = late.has(i + 1) ? 'reminded' : 'paid'
  assert.equal(await readFile(join(folder, name), 'utf8'), `amount: ${(i + 1) * 10}\nstatus: ${status}\n`)
}
await ctx.fiber.dispose()
await rm(folder, { recursive: true })
