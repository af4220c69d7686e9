import { expect, test } from 'vitest'
import * as prompt from '../src/prompt.ts'

test('what a model reads about programs is pinned', () => {
  expect({
    description: prompt.runCodeDescription,
    program: prompt.programDescription,
    what: prompt.descriptionDescription,
    section: prompt.sectionText('declare const x: 1\n'),
    failures: (['exception', 'timeout', 'memory', 'output', 'abort', 'crash'] as const).map((kind) =>
      prompt.failureText(kind, 'why', kind === 'exception' ? 3 : undefined, kind === 'crash' ? ['a', 'b'] : []),
    ),
    result: [prompt.resultText('1', []), prompt.resultText('1', ['a'])],
  }).toMatchInlineSnapshot(`
    {
      "description": "Runs a TypeScript program whose only powers are the tools of this conversation. The program is the body of an async function: use await, and return a JSON value. Call tools as \`await tools.name({ … })\`; calls made with Promise.all overlap where the tools allow it. A call that is denied or fails rejects with a ToolError (code, tool, reason, executed). There are no files, network, processes or timers beside sleep(ms). What console.log prints is shown with the result. Prefer one program over many single calls.",
      "failures": [
        "The program threw (line 3): why
    Calls that it had made are not undone.",
        "The program took too long: why
    Calls that it had made are not undone.",
        "The program used too much memory: why
    Calls that it had made are not undone.",
        "The program printed too much: why
    Calls that it had made are not undone.",
        "The program was stopped: why
    Calls that it had made are not undone.",
        "The runtime of the program crashed: why
    Calls that it had made are not undone.
    It had printed:
    a
    b",
      ],
      "program": "Body of an async function, in TypeScript.",
      "result": [
        "1",
        "1

    Printed:
    a",
      ],
      "section": "Programs for run_code can use exactly this:

    \`\`\`ts
    declare const x: 1
    \`\`\`",
      "what": "What the program does, in a few words, for the person who follows along.",
    }
  `)
})
