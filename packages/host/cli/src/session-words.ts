/** Owns the words of the commands for recorded sessions; what runs for them is imported only then. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { World } from '@sluice/base'
import type { Consent } from './confirm.ts'
import { spanMs } from './moments.ts'
import type { PruneOptions } from './session-change.ts'
import type { ExportOptions } from './session-command.ts'
import type { Terminal } from './terminal.ts'

interface Way {
  readonly terminal: Terminal
  readonly world: () => Promise<World>
  readonly end: (code: number) => void
}

const SESSION =
  'its id or the beginning of it, its folder, its events.jsonl, or "last", the newest one of the working folder'
const YES = 'do not ask'

/** Adds `session` and `undo` to the program. */
export function sessionWords(program: Command, way: Way): void {
  const session = program.command('session').description('look at recorded sessions, mend and remove them')
  looking(session, way)
  changing(session, way)
  program
    .command('undo')
    .description('take back what a call changed in files; without a call, list those that changed any')
    .argument('<session>', SESSION)
    .argument('[call]', 'id of the call')
    .action(async (given: string, call: string | undefined) => {
      const { undo } = await import('./undo-command.ts')
      way.end(await undo(way.terminal, await way.world(), given, call))
    })
}

function looking(session: Command, { terminal, world, end }: Way): void {
  const code = () => import('./session-command.ts')
  session
    .command('list')
    .description('list sessions, newest first; times are UTC')
    .action(async () => end(await (await code()).listSessions(terminal, await world())))
  session
    .command('show')
    .description('show a session')
    .argument('<session>', SESSION)
    .action(async (given: string) => end(await (await code()).showSession(terminal, await world(), given)))
  session
    .command('verify')
    .description('read a whole log and name each thing that is wrong with it')
    .argument('<session>', SESSION)
    .action(async (given: string) => end(await (await code()).verifySession(terminal, await world(), given)))
  session
    .command('grants')
    .description('list what is always allowed in a session because a person said so')
    .argument('<session>', SESSION)
    .action(async (given: string) =>
      end(await (await import('./grants-command.ts')).listGrants(terminal, await world(), given)),
    )
  session
    .command('export')
    .description('write a session as one text')
    .argument('<session>', SESSION)
    .addOption(new Option('--format <format>', 'of the text').choices(['markdown', 'json']).default('markdown'))
    .option('--output <file>', 'a file that is not there yet, instead of standard output')
    .action(async (given: string, options: ExportOptions) =>
      end(await (await code()).exportSession(terminal, await world(), given, options)),
    )
}

function changing(session: Command, { terminal, world, end }: Way): void {
  const code = () => import('./session-change.ts')
  session
    .command('repair')
    .description('make a damaged log whole, and keep what it was')
    .argument('<session>', SESSION)
    .action(async (given: string) => end(await (await code()).repairSession(terminal, await world(), given)))
  session
    .command('fork')
    .description('begin a session with the past of another, and print its id')
    .argument('<session>', SESSION)
    .option('--at <seq>', 'after the last end of a turn up to this event', seqOf)
    .action(async (given: string, options: { at?: number }) =>
      end(await (await code()).forkSession(terminal, await world(), given, options)),
    )
  session
    .command('revoke')
    .description('take back what is always allowed: it is asked about again')
    .argument('<session>', SESSION)
    .argument('<rule>', 'as the list of grants shows it')
    .action(async (given: string, rule: string) =>
      end(await (await import('./grants-command.ts')).revokeGrant(terminal, await world(), given, rule)),
    )
  session
    .command('delete')
    .description('remove a session for ever')
    .argument('<session>', SESSION)
    .option('--yes', YES)
    .action(async (given: string, options: Consent) =>
      end(await (await code()).deleteSession(terminal, await world(), given, options)),
    )
  session
    .command('prune')
    .description('remove all sessions whose last event is older')
    .requiredOption('--older-than <span>', 'such as 30d, 2w, 12h, 90m', spanOf)
    .option('--dry-run', 'only say what would be removed')
    .option('--yes', YES)
    .action(async (options: PruneOptions) => end(await (await code()).pruneSessions(terminal, await world(), options)))
  session
    .command('unlock')
    .description('take a session away from a process on a host that is gone')
    .argument('<session>', SESSION)
    .option('--yes', YES)
    .action(async (given: string, options: Consent) =>
      end(await (await code()).unlockSession(terminal, await world(), given, options)),
    )
}

function seqOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is the number of an event: 0, 1, 2 …')
}

function spanOf(text: string): number {
  const ms = spanMs(text)
  if (ms !== undefined) return ms
  throw new InvalidArgumentError('It is a whole number of minutes, hours, days or weeks: 90m, 12h, 30d, 2w.')
}
