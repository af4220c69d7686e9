/** Owns `npm start`: the coding agent fixes the bug of the example, or does a task in a folder of the user. */
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { formatError, nodeTerminal, runCli, type Terminal } from '@sluice/cli'

const usage = `npm start                            fix the bug of the example, with a scripted model if no key is set
npm start -- "your task" --cwd DIR   do a task in a folder of yours, with a real model (--model NAME)
`

async function main(terminal: Terminal): Promise<number> {
  const options = { cwd: { type: 'string' }, model: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
  let parsed: ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>
  try {
    parsed = parseArgs({ options, allowPositionals: true })
  } catch (error) {
    terminal.writeError(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
    return 2
  }
  const { values, positionals } = parsed
  if (values.help) {
    terminal.write(usage)
    return 0
  }
  if (positionals.length === 0 && values.cwd === undefined) {
    const { fixTheExample } = await import('./demo.ts')
    return fixTheExample(terminal, values.model)
  }
  const composition = fileURLToPath(new URL('sluice.yml', import.meta.url))
  const flags = Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)])
  return runCli(['run', ...positionals, ...flags, '--composition', composition], terminal)
}

const terminal = nodeTerminal()
const code = await main(terminal).catch((error: unknown) => {
  terminal.writeError(formatError(error))
  return 1
})
await terminal.end(code)
