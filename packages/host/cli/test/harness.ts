/** Owns running the command in this process: a real World on temporary folders, a scripted model, a terminal that is watched. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@sluice/base'
import { type ScriptedStep, scriptedModel } from '@sluice/testkit'
import type { ToolDefinition } from '@sluice/tools'
import { nodeWorld } from '@sluice/world-node'
import type { Context } from 'cordis'
import { onTestFinished } from 'vitest'
import { runCli } from '../src/cli.ts'
import type { RunParts } from '../src/run-command.ts'
import type { Terminal } from '../src/terminal.ts'

export interface WatchedTerminal extends Terminal {
  readonly out: string
  readonly err: string
  interrupt(): void
  /** Resolves when `text` has been written. */
  until(text: string): Promise<void>
}

/** Input comes from `lines`; after them the input has ended, or waits for ever. */
export function watchedTerminal(
  cwd: string,
  options: { interactive?: boolean; lines?: string[]; after?: 'end' | 'wait' } = {},
): WatchedTerminal {
  const lines = [...(options.lines ?? [])]
  const listeners = new Set<() => void>()
  const waiting = new Set<() => void>()
  let out = ''
  let err = ''
  const woken = () => {
    for (const wake of waiting) wake()
  }
  const read: Terminal['readLine'] = (prompt, signal) => {
    out += prompt
    woken()
    const line = lines.shift()
    if (line !== undefined || options.after !== 'wait' || signal?.aborted) return Promise.resolve(line)
    return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(undefined), { once: true }))
  }
  return {
    interactive: options.interactive ?? false,
    cwd,
    get out() {
      return out
    },
    get err() {
      return err
    },
    write(text) {
      out += text
      woken()
    },
    writeError(text) {
      err += text
      woken()
    },
    readLine: read,
    readAnswer: read,
    onInterrupt(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    end: () => Promise.reject(new Error('the test goes on')),
    interrupt() {
      for (const listener of listeners) listener()
    },
    until(text) {
      return new Promise((resolve) => {
        const check = () => {
          if (!`${out}${err}`.includes(text)) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      })
    },
  }
}

export interface Place {
  readonly folder: string
  readonly parts: RunParts
  readonly composition: string
  sluice(terminal: Terminal, ...argv: string[]): Promise<number>
}

export interface PlaceOptions {
  readonly steps?: readonly ScriptedStep[]
  readonly tools?: readonly ToolDefinition[]
  readonly env?: Readonly<Record<string, string>>
  /** Entries of the composition besides the usual ones. */
  readonly entries?: string
  readonly modules?: Readonly<Record<string, unknown>>
}

const usual = ['store-jsonl', 'session', 'llm', 'tools', 'approval', 'agent']

/** A working folder, XDG folders of its own, and a composition whose model is a script named `sim/one`. */
export async function place(options: PlaceOptions = {}): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-cli-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const composition = join(folder, 'test.yml')
  const entries = usual.map((name) => `- name: '@sluice/${name}'\n`)
  await writeFile(composition, `${entries.join('')}- name: sim\n${options.entries ?? ''}`)
  const sim = {
    name: 'sim',
    inject: ['llm', 'tools'],
    apply(ctx: Context) {
      ctx.llm.register('sim', scriptedModel(options.steps ?? []))
      for (const definition of options.tools ?? []) ctx.tools.register(definition)
    },
  }
  const modules: Record<string, unknown> = { sim, ...options.modules }
  const world = nodeWorld()
  const env = { XDG_DATA_HOME: join(folder, 'data'), XDG_CONFIG_HOME: join(folder, 'config'), ...options.env }
  const parts: RunParts = {
    world: { ...world, host: { ...world.host, env } },
    importer: async (name) => {
      const address = name.startsWith('./') ? join(folder, name) : name
      return modules[name] ?? ((await import(/* @vite-ignore */ address)) as unknown)
    },
  }
  return { folder, parts, composition, sluice: (terminal, ...argv) => runCli(argv, terminal, parts) }
}

export function tool(
  name: string,
  execute: ToolDefinition['execute'],
  more: Partial<ToolDefinition> = {},
): ToolDefinition {
  return { name, description: `Test tool ${name}.`, parameters: { type: 'object' }, execute, ...more }
}

export function calls(name: string, args: JsonObject = {}): ScriptedStep {
  return { calls: [{ name, args }] }
}
