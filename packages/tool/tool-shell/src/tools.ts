/** Owns the bash tool. */
import type { World } from '@sluice/base'
import type { Card, ToolDefinition } from '@sluice/tools'
import { Type } from 'typebox'
import { runCommand } from './command.ts'
import { commandEnvironment } from './environment.ts'
import type { Config } from './plugin.ts'
import { description, parameterTexts, resultText } from './prompt.ts'
import type { CommandResult } from './types.ts'

/** Characters of a command; the platform takes no more in one argument. */
export const COMMAND_CHARS_MAX = 100_000
/** On top of the longest limit of a command, for ending it: other deadlines stay behind the tool's own. */
const DEADLINE_MARGIN_MS = 5_000
/** Characters of output on a card. */
const CARD_CHARS = 2_000

interface Args {
  readonly command: string
  readonly description?: string
  readonly timeoutMs?: number
}

export interface BashOptions {
  readonly world: World
  readonly config: Config
  /** Fires when the tool goes away: its commands end with it. */
  readonly gone: AbortSignal
  /** Told of each command that runs, until it has ended. */
  readonly track: (running: Promise<unknown>) => void
}

function callCard({ command, description: title }: Args): Card {
  return { v: 1, kind: 'terminal', title: title ?? 'bash', command }
}

export function bashTool({ world, config, gone, track }: BashOptions): ToolDefinition<Args> {
  const { defaultTimeoutMs, maxTimeoutMs } = config
  return {
    name: 'bash',
    description: description(defaultTimeoutMs, maxTimeoutMs),
    parameters: Type.Object({
      command: Type.String({
        minLength: 1,
        maxLength: COMMAND_CHARS_MAX,
        pattern: '^[^\\u0000]*$',
        description: parameterTexts.command,
      }),
      description: Type.Optional(Type.String({ description: parameterTexts.description })),
      timeoutMs: Type.Optional(
        Type.Integer({ minimum: 1, maximum: maxTimeoutMs, description: parameterTexts.timeoutMs }),
      ),
    }),
    aliases: ['Bash'],
    annotations: { destructive: true, openWorld: true },
    timeoutMs: maxTimeoutMs + DEADLINE_MARGIN_MS,
    async execute({ command, timeoutMs = defaultTimeoutMs }, run) {
      const running = runCommand({
        world,
        shell: config.shell,
        command,
        cwd: run.session.cwd,
        env: commandEnvironment(world.host.env, { pass: config.passEnv, set: config.setEnv }),
        timeoutMs,
        charsMax: config.outputCharsMax,
        signals: [run.signal, gone],
        onProgress: (output) => run.progress({ output }),
      })
      track(running)
      return running
    },
    render: (value) => resultText(value as unknown as CommandResult),
    presentCall: callCard,
    presentResult(args, { value }) {
      const { output, exitCode } = value as unknown as CommandResult
      return { ...callCard(args), output: lastLines(output, CARD_CHARS), exitCode } as Card
    },
    specifier: ({ command }) => command,
  }
}

/** The last whole lines that fit into `chars`; of a last line that does not fit, its end. */
function lastLines(text: string, chars: number): string {
  if (text.length <= chars) return text
  const start = text.length - chars
  const line = text.indexOf('\n', start - 1) + 1
  return text.slice(line > 0 && line < text.length ? line : start).toWellFormed()
}
