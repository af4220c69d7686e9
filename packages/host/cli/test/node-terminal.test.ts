import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { nodeTerminal } from '../src/node-terminal.ts'

/** A terminal whose keyboard and screen are pipes. */
function typing() {
  const keyboard = new PassThrough()
  const screen = new PassThrough()
  let seen = ''
  const waiting = new Set<() => void>()
  screen.on('data', (chunk: Buffer) => {
    seen += chunk.toString()
    for (const check of waiting) check()
  })
  const stdin = Object.assign(keyboard, { isTTY: true, setRawMode: () => keyboard })
  const stdout = Object.assign(screen, { isTTY: true, columns: 80 })
  const streams = { stdin, stdout, stderr: screen } as unknown as Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>
  return {
    terminal: nodeTerminal(streams),
    keys: (text: string) => void keyboard.write(text),
    shown: (text: string) =>
      new Promise<void>((resolve) => {
        const check = () => seen.includes(text) && resolve()
        waiting.add(check)
        check()
      }),
  }
}

test('a yes typed before the first question of a run answers nothing', async () => {
  const { terminal, keys, shown } = typing()
  keys('y\r')
  const answer = terminal.readAnswer('allow? ')
  await shown('allow? ')
  keys('no\r')
  expect(await answer).toBe('no')
  expect(await terminal.readLine('> ')).toBe('y')
})

test('a yes that was typed before a question and not entered is forgotten', async () => {
  const { terminal, keys, shown } = typing()
  keys('y')
  const answer = terminal.readAnswer('allow? ')
  await shown('allow? ')
  keys('\r')
  expect(await answer).toBe('')
})

test('what is typed after the question is shown answers it', async () => {
  const { terminal, keys, shown } = typing()
  const answer = terminal.readAnswer('allow? ')
  await shown('allow? ')
  keys('yes\r')
  expect(await answer).toBe('yes')
})

test('what comes while a question waits stands on lines of its own, and the question is shown again with what was typed', async () => {
  const { terminal, keys, shown } = typing()
  const answer = terminal.readAnswer('allow? ')
  await shown('allow? ')
  keys('ye')
  await shown('ye')
  terminal.write('a result\n')
  await shown('\na result\n\u001b[1G\u001b[0Jallow? ye')
  keys('s\r')
  expect(await answer).toBe('yes')
  terminal.write('then plainly')
  await shown('\nthen plainly')
})
