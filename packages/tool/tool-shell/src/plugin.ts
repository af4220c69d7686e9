/** Owns the wiring of the shell tools. */
import type { Context } from 'cordis'
import z from 'schemastery'
import { shellEvents } from './events.ts'
import { Jobs } from './jobs.ts'
import type {} from '@sluice/sandbox'
import { bashTool, killTool, outputTool, type ShellServices } from './tools.ts'

export const name = 'tool-shell'
export const inject = ['tools', 'world', 'sessions']

export interface Config {
  shell: string
  defaultTimeoutMs: number
  maxTimeoutMs: number
  outputCharsMax: number
  processesMax: number
  passEnv: string[]
  setEnv: Record<string, string>
}

export const Config: z<Partial<Config>, Config> = z.object({
  shell: z.string().default('bash').description('Name or path of the shell; it is given -c -- and the command.'),
  defaultTimeoutMs: z.natural().min(1).default(120_000).description('Limit of a command that asks for none.'),
  maxTimeoutMs: z.natural().min(1).default(600_000).description('Longest limit that a command may ask for.'),
  outputCharsMax: z.natural().min(200).default(24_000).description('Characters of output that are kept.'),
  processesMax: z.natural().min(1).default(1_000).description('A command with more processes is ended.'),
  passEnv: z.array(z.string()).default([]).description('Further variables of the host that commands get.'),
  setEnv: z.dict(z.string()).default({}).description('Variables that commands get with these values.'),
})

export function apply(ctx: Context, config: Config): void {
  const { world } = ctx
  const running = new Set<Promise<unknown>>()
  const track = (command: Promise<unknown>) => {
    const settled: Promise<unknown> = command.catch(() => undefined).finally(() => running.delete(settled))
    running.add(settled)
  }
  const jobs = new Jobs(world, config.outputCharsMax)
  const gone = new AbortController()
  const services: ShellServices = { world, config, jobs, gone: gone.signal, track, sandbox: () => ctx.get('sandbox') }
  ctx.effect(function* () {
    // Goes last: the end of a job is written with it.
    yield ctx.sessions.define(shellEvents)
    yield async () => {
      gone.abort(new Error('the shell tools were unloaded'))
      await Promise.all([jobs.dispose(), ...running])
    }
    yield ctx.tools.register(bashTool(services))
    yield ctx.tools.register(outputTool(services))
    yield ctx.tools.register(killTool(services))
  }, 'bash')
}
