/** Owns T10 and T11: a program in a fresh world, and the round trip of its calls, against the bare engine and a bare worker. */
import { Worker } from 'node:worker_threads'
import * as quickjs from '@sluice/code-quickjs'
import type { CodeLimits, CodeReply } from '@sluice/code-mode'
import type { Json } from '@sluice/base'
import { Context } from 'cordis'
import { getQuickJS } from 'quickjs-emscripten'
import type { Candidate, Case } from '../measure.ts'

const limits: CodeLimits = {
  activeMs: 60_000,
  wallMs: 60_000,
  memoryBytes: 64 << 20,
  stackBytes: 256 << 10,
  outputBytes: 1 << 16,
  callsMax: 100_000,
  transferBytes: 1 << 28,
}
const call = (_binding: string, args: Json): Promise<CodeReply> => Promise.resolve({ ok: true, value: args })

let mounted: Context | undefined

async function runtime() {
  mounted ??= new Context()
  if (!mounted.get('codeRuntime')) await mounted.plugin(quickjs)
  return mounted.codeRuntime
}

function program(name: string, text: string, times = 1): Candidate {
  return {
    name,
    async prepare() {
      const code = await runtime()
      const run = async (source: string) => {
        const { signal } = new AbortController()
        const outcome = await code.run({ program: source, bindings: ['echo'], limits, signal, call }).outcome
        if (outcome.kind !== 'value') throw new Error(outcome.message)
      }
      await run('return 1')
      return async () => {
        for (let i = 0; i < times; i++) await run(text)
      }
    },
  }
}

/** A fresh QuickJS runtime in this thread: no isolation, no bindings. */
const engine: Candidate = {
  name: 'QuickJS in process',
  async prepare() {
    const quick = await getQuickJS()
    return () => {
      for (let i = 0; i < 20; i++) {
        const runtimeHandle = quick.newRuntime()
        const context = runtimeHandle.newContext()
        context.unwrapResult(context.evalCode('1')).dispose()
        context.dispose()
        runtimeHandle.dispose()
      }
    }
  },
}

/** A worker that sends each message back: nothing but two messages. */
const worker: Candidate = {
  name: 'bare worker',
  prepare() {
    const echo = new Worker(
      "const { parentPort } = require('node:worker_threads'); parentPort.on('message', (m) => parentPort.postMessage(m))",
      { eval: true },
    )
    return async () => {
      for (let i = 0; i < 500; i++) {
        const back = new Promise((resolve) => echo.once('message', resolve))
        echo.postMessage({ i })
        await back
      }
      await echo.terminate()
    }
  },
}

export const codeCases: readonly Case[] = [
  {
    id: 'T10',
    what: 'a program that returns 1, in a fresh world, against a fresh QuickJS runtime in process',
    units: 20,
    rounds: 9,
    clock: 'wall',
    floor: engine,
    ours: program('run', 'return 1', 20),
    target: undefined,
    note: '≤ 2,000 µs',
  },
  {
    id: 'T11',
    what: 'a call of a program, one after the other, against a round trip of a bare worker',
    units: 500,
    rounds: 9,
    clock: 'wall',
    floor: worker,
    ours: program('sequential calls', 'for (let i = 0; i < 500; i++) await tools.echo({ i }); return 1'),
    target: undefined,
    note: '≤ 33 µs',
  },
  {
    id: 'T11p',
    what: 'the same, all at once',
    units: 500,
    rounds: 9,
    clock: 'wall',
    floor: worker,
    ours: program(
      'parallel calls',
      'await Promise.all(Array.from({ length: 500 }, (_, i) => tools.echo({ i }))); return 1',
    ),
    target: undefined,
    note: '≤ 15 µs',
    close: async () => mounted?.fiber.dispose(),
  },
]
