/** Owns the scripted model: a real HTTP endpoint on loopback whose answers depend on what it was sent. */
import { type ChatCompletionRequest, LLMock } from '@copilotkit/aimock'

/** What the model knows of the conversation. */
interface Seen {
  /** How often it has answered. */
  readonly answers: number
  /** Results since its last answer, in the order of its calls. */
  readonly results: readonly string[]
  /** Everything it was ever shown by a tool. */
  readonly all: string
}

interface Answer {
  readonly say: string
  readonly calls?: readonly (readonly [tool: string, args: object])[]
}

export interface ModelServer {
  readonly baseURL: string
  close(): Promise<void>
}

const plan = ['Run the tests', 'Find the cause', 'Fix it', 'Run the tests again']

function todo(done: number): readonly [string, object] {
  const status = (index: number) => (index < done ? 'done' : index === done ? 'doing' : 'pending')
  return ['todo_write', { items: plan.map((text, index) => ({ text, status: status(index) })) }]
}

/** The first group of `pattern` in `text`; the model gives up when it was not shown what it needs. */
function found(pattern: RegExp, text: string, what: string): string {
  const match = pattern.exec(text)?.[1]
  if (match === undefined) throw new Error(`I was not shown ${what}`)
  return match
}

const failingTest = /(?:not ok \d+ - |✖ )(a cent .*?)(?: \(.*\))?$/m
/** The sort that hands out left-over cents, as far as it fits on a line. */
const sorting = /(parts\.toSorted\(.*a\.lost - b\.lost.*\))/

const repair = ({ all }: Seen) => {
  const oldText = found(sorting, all, 'the line that sorts')
  const edits = [{ oldText, newText: oldText.replace('a.lost - b.lost', 'b.lost - a.lost') }]
  return ['edit', { path: found(/(src\/\w+\.js)/, all, 'the file that sorts'), edits }] as const
}

/** One step for each answer; a step sees what the tools gave back. */
const script: readonly ((seen: Seen) => Answer)[] = [
  () => ({
    say: 'I write down the plan, look at the project, and run its tests.',
    calls: [todo(0), ['list', {}], ['bash', { command: 'node --test' }]],
  }),
  ({ results: [, , tests = ''] }) => ({
    say: `A test fails: “${found(failingTest, tests, 'a failing test')}”. I look for where left-over cents are handed out.`,
    calls: [todo(1), ['read', { path: 'README.md' }], ['grep', { pattern: 'a\\.lost', path: 'src' }]],
  }),
  (seen) => ({
    say: 'The cents go to the shares that lost least: the order is the wrong way round. I turn it.',
    calls: [todo(2), repair(seen)],
  }),
  ({ results: [, refusal = ''], all }) => {
    if (!/read/i.test(refusal)) throw new Error(`I expected to be told to read the file first, not: ${refusal}`)
    const path = found(/(src\/\w+\.js)/, all, 'the file that sorts')
    return { say: `The edit was refused: I have not read ${path} yet. I read it first.`, calls: [['read', { path }]] }
  },
  (seen) => ({ say: 'Now that I have read it, the same edit again.', calls: [repair(seen)] }),
  () => ({ say: 'The tests again.', calls: [todo(3), ['bash', { command: 'node --test' }]] }),
  ({ results: [, tests = ''] }) => {
    if (!/^(?:#|ℹ) fail 0$/m.test(tests)) throw new Error('the tests still fail')
    return { say: 'All of them pass.', calls: [todo(plan.length)] }
  },
  () => ({
    say: 'Fixed: `split` handed left-over cents to the shares that had lost least by rounding. It now sorts by what each share lost, largest first, as the README says, and all tests pass.',
  }),
]

function seenIn({ messages }: ChatCompletionRequest): Seen {
  const text = ({ content }: ChatCompletionRequest['messages'][number]) =>
    typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('')
  const results = messages.filter(({ role }) => role === 'tool').map(text)
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  return {
    answers: messages.filter(({ role }) => role === 'assistant').length,
    results: messages
      .slice(last + 1)
      .filter(({ role }) => role === 'tool')
      .map(text),
    all: results.join('\n'),
  }
}

function answerOf(request: ChatCompletionRequest): Answer {
  const seen = seenIn(request)
  try {
    const step = script[seen.answers]
    if (step === undefined) throw new Error('my script is over')
    return step(seen)
  } catch (error) {
    return { say: `I cannot go on: ${error instanceof Error ? error.message : String(error)}.` }
  }
}

/** Serves the scripted model until it is closed. */
export async function serveScriptedModel(): Promise<ModelServer> {
  const mock = new LLMock({ port: 0 })
  mock.on({ predicate: () => true }, (request) => {
    const { say, calls = [] } = answerOf(request)
    if (calls.length === 0) return { content: say }
    return { content: say, toolCalls: calls.map(([name, args]) => ({ name, arguments: JSON.stringify(args) })) }
  })
  await mock.start()
  return {
    baseURL: `${mock.url}/v1`,
    close: () => mock.stop(),
  }
}
