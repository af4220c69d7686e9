/** Takes the guards of core/tools, base/listeners and base/pipeline out one by one and says which of them no test misses.
 *  `pnpm mutate [--slice 1/40] [--file execute] [--key TEXT] [--again]`; what has been judged before is not judged again. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { allMutants, root, tests } from './mutate/sources.mjs'

/** Without a sign of life for so long, the mutant under test loops for ever: it is killed. */
const SILENCE_MS = 75_000
/** Progress is told after so many mutants. */
const PROGRESS = 100

const { values: options } = parseArgs({
  options: {
    slice: { type: 'string', default: '1/1' },
    file: { type: 'string', default: '' },
    key: { type: 'string', default: '' },
    again: { type: 'boolean', default: false },
  },
})
const [slice, slices] = options.slice.split('/').map(Number)
const { mutants, texts } = allMutants()
const read = (file) => readFileSync(join(root, file), 'utf8')
const reasons = JSON.parse(read('scripts/mutate/equivalent.json'))
const print = createHash('sha256')
  .update([...texts.values(), ...tests().map(read)].join(''))
  .digest('hex')
  .slice(0, 12)
const folder = join(root, '.turbo/mutate')
const results = join(folder, `${print}.jsonl`)
const reach = join(folder, `${print}.reach.json`)
// Slices may run side by side.
const beat = join(folder, `beat-${slice}`)
mkdirSync(folder, { recursive: true })

function verdicts() {
  if (!existsSync(results)) return new Map()
  const lines = readFileSync(results, 'utf8').split('\n').filter(Boolean)
  return new Map(lines.map((line) => JSON.parse(line)).map(({ id, verdict }) => [id, verdict]))
}

const chosen = mutants
  .filter(({ file, key }) => file.includes(options.file) && key.includes(options.key))
  .filter((_, index) => index % slices === slice - 1)

let told = 0
function tell() {
  const now = verdicts()
  const done = chosen.filter(({ id }) => now.has(id)).length
  if (done < told + PROGRESS) return
  told = done - (done % PROGRESS)
  console.log(`${done} of ${chosen.length} judged`)
}

/** Runs one process until it has judged all of `ids`, or has been silent for too long. */
function judge(ids) {
  const job = { tests: tests().map((file) => join(root, file)), mutants: ids, results, reach, beat }
  const args = ['run', '--config', join(root, 'scripts/mutate/vitest.config.mjs')]
  writeFileSync(beat, 'start')
  const child = spawn(join(root, 'node_modules/.bin/vitest'), args, {
    cwd: root,
    env: { ...process.env, MUTATE_JOB: JSON.stringify(job) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes) => (output = (output + bytes).slice(-4000)))
  return new Promise((resolve) => {
    const watch = setInterval(() => {
      tell()
      if (Date.now() - statSync(beat).mtimeMs < SILENCE_MS) return
      clearInterval(watch)
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, 1000)
    child.on('close', () => {
      clearInterval(watch)
      resolve(output)
    })
  })
}

const before = options.again ? new Map() : verdicts()
let open = chosen.map(({ id }) => id).filter((id) => !before.has(id))
console.log(`${mutants.length} mutants, ${chosen.length} in this slice, ${open.length} to judge`)
while (open.length > 0) {
  const output = await judge(open)
  const now = verdicts()
  const rest = open.filter((id) => !now.has(id))
  if (rest.length > 0) {
    const [word, id] = readFileSync(beat, 'utf8').split(' ')
    // A mutant left something behind in the process: the others are judged in a new one.
    if (word !== 'spoiled' && word !== 'mutant') {
      console.error(output)
      process.exit(2)
    }
    const never = { id: Number(id), verdict: 'killed: it never ended' }
    if (word === 'mutant') writeFileSync(results, `${JSON.stringify(never)}\n`, { flag: 'a' })
  }
  open = rest.filter((id) => !verdicts().has(id))
}

const keys = new Set(mutants.map(({ key }) => key))
for (const key of Object.keys(reasons)) if (!keys.has(key)) console.log(`excused, but no longer there: ${key}`)
const final = verdicts()
const alive = chosen.filter(({ id }) => !final.get(id)?.startsWith('killed'))
const unjustified = alive.filter(({ key }) => !Object.hasOwn(reasons, key))
for (const { id, file, line, key } of unjustified) console.log(`${file}:${line}\n  ${key}\n  ${final.get(id)}`)
console.log(
  `${chosen.length - alive.length} killed, ${alive.length - unjustified.length} equivalent, ${unjustified.length} survived`,
)
process.exit(unjustified.length === 0 ? 0 : 1)
