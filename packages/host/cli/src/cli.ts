/** Owns the command line: its words, and which code runs for them; plugins are imported only by what needs them. */
import { Command, CommanderError, Option } from 'commander'
import { EXIT } from './exit-code.ts'
import type { GraphOptions } from './graph-command.ts'
import type { RunOptions, RunParts } from './run-command.ts'
import { sessionWords } from './session-words.ts'
import type { Terminal } from './terminal.ts'
import { VERSION } from './version.ts'

/** Runs the command `argv` (without program and script); resolves to the exit code. Never rejects. */
export async function runCli(argv: readonly string[], terminal: Terminal, parts?: RunParts): Promise<number> {
  let code: number = EXIT.done
  const program = commands(terminal, parts, (ended) => {
    code = ended
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    const { formatError, isUsage } = await import('./format-error.ts')
    terminal.writeError(formatError(error))
    return isUsage(error) ? EXIT.usage : EXIT.failed
  }
}

function commands(terminal: Terminal, given: RunParts | undefined, end: (code: number) => void): Command {
  const parts = async () => given ?? { world: (await import('@sluice/world-node')).nodeWorld() }
  const program = new Command('sluice')
    .description('A coding agent in which every part is a plugin and every tool call takes one guarded path.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.write(text), writeErr: (text) => terminal.writeError(text) })
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed or something is wrong, 2 usage, 3 ended with denied calls, 130 interrupted.',
    )
  program
    .command('run')
    .description('run a task in the working folder; without one, hold a conversation')
    .argument('[task]', 'what to do')
    .option('--json', 'write one event per line')
    .option('--cwd <dir>', 'working folder')
    .option('--model <name>', 'name of the model, or provider/name')
    .option('--composition <file>', 'use this sluice.yml; the code it names is run')
    .option(
      '--session <id>',
      'go on with this session, named by the beginning of its id; "last" is the newest one of the working folder',
    )
    .action(async (task: string | undefined, options: RunOptions) => {
      const { run } = await import('./run-command.ts')
      end(await run(terminal, await parts(), task, options))
    })
  program
    .command('graph')
    .description('draw the way of a tool call through the composition; nothing is run')
    .addOption(new Option('--format <format>', 'of the drawing').choices(['mermaid', 'json']).default('mermaid'))
    .option('--composition <file>', 'use this sluice.yml; the code it names is loaded')
    .option(
      '--session <session>',
      'show which way each recorded call of this session took; named as `session show` takes it',
    )
    .action(async (options: GraphOptions) => {
      const { graph } = await import('./graph-command.ts')
      end(await graph(terminal, await parts(), options))
    })
  sessionWords(program, { terminal, world: async () => (await parts()).world, end })
  return program
}
