/** Holds the terminal to what every answerer does. */
import { type AnswererSubject, answererContract } from '@sluice/approval/contract'
import { runContract } from '@sluice/testkit'
import { describe, it } from 'vitest'
import { terminalAnswerer } from '../src/ask.ts'
import { watchedTerminal } from './harness.ts'

/** A person who types a line for whichever question stands there, now or next; none is the end of input. */
function typing(): AnswererSubject {
  const typed: (string | undefined)[] = []
  const reading: ((line: string | undefined) => void)[] = []
  const readAnswer = (_prompt: string, signal?: AbortSignal) =>
    new Promise<string | undefined>((resolve) => {
      if (typed.length > 0) return resolve(typed.shift())
      reading.push(resolve)
      signal?.addEventListener('abort', () => {
        reading.splice(reading.indexOf(resolve), 1)
        resolve(undefined)
      })
    })
  const type = (line: string | undefined) => {
    const reader = reading.shift()
    if (reader) reader(line)
    else typed.push(line)
  }
  return {
    answerer: terminalAnswerer({ ...watchedTerminal('/', { interactive: true }), readAnswer }),
    press: (kind, message) => type(kind === 'allow-once' ? 'y' : kind === 'reject' ? (message ?? 'n') : undefined),
    always: () => type('a'),
  }
}

runContract(answererContract, typing, { it, describe }, { title: 'a person at a terminal' })
