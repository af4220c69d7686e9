/** Owns printing the reference of a composition to a folder, and checking that it is printed there. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { isSluiceError } from '@sluice/base'
import { moduleImporter, resolveModule } from '@sluice/compose'
import { declaredEvents, type Difference, differences, type Page, pagesOf, signaturesIn } from '@sluice/docs'
import { type Booted, boot } from '@sluice/graph'
import { nodeWorld } from '@sluice/world-node'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Has every package as a dependency, so that a composition anywhere finds them. */
const host = join(root, 'packages', 'host', 'cli', 'package.json')

const example = join(root, 'examples', 'coding-agent', 'sluice.yml')

const usage = `usage: pnpm gen-doc-graphs [--check] [--composition FILE] [--out DIR]

  --check             print nothing; list what differs and fail when something does
  --composition FILE  default examples/coding-agent/sluice.yml
  --out DIR           default docs/reference; of another composition the same beside it
`

type Say = (text: string) => void

/** How pages name a composition: inside the repository its path there, elsewhere its name alone. */
function titleOf(file: string): string {
  const inside = relative(root, file).replaceAll('\\', '/')
  return inside.startsWith('..') ? basename(file) : inside
}

/** Where its pages go: nothing but the example's own composition changes the documentation of this repository. */
function placeOf(file: string): string {
  return join(file === example ? root : dirname(file), 'docs', 'reference')
}

function presentPages(folder: string): Map<string, string> {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.md'))
    return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
  } catch {
    return new Map()
  }
}

function signaturesOf(booted: Booted, file: string): Map<string, string> {
  const files = [...booted.modules.keys()].map((name) => fileURLToPath(resolveModule(name, [file, host])))
  return signaturesIn(files, new Set(declaredEvents(booted).map(({ name }) => name)))
}

async function print(file: string): Promise<Page[]> {
  const world = nodeWorld()
  try {
    const booted = await boot({ file, title: titleOf(file), world, importer: moduleImporter(host) })
    const pages = pagesOf(booted, { signatures: signaturesOf(booted, file) })
    await booted.dispose()
    return pages
  } finally {
    world.dispose()
  }
}

function check(changes: readonly Difference[], shown: string, again: string, say: Say): number {
  for (const { name, kind, diff } of changes) say(`${kind}: ${shown}/${name}\n${diff}`)
  if (changes.length === 0) return 0
  say(`${changes.length} pages of ${shown} are not those of the composition; run: ${again}`)
  return 1
}

function write(pages: readonly Page[], changes: readonly Difference[], folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const { name, text } of pages) writeFileSync(join(folder, name), text)
  for (const { name, kind } of changes) {
    if (kind === 'orphaned') rmSync(join(folder, name))
  }
}

async function run(args: readonly string[], say: Say): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      check: { type: 'boolean', default: false },
      composition: { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    say(usage)
    return 0
  }
  // Package managers run scripts in the root; paths count from where the user is.
  const from = process.env.INIT_CWD ?? process.cwd()
  const file = resolve(from, values.composition ?? example)
  const folder = values.out === undefined ? placeOf(file) : resolve(from, values.out)
  const shown = relative(from, folder) || '.'
  const pages = await print(file)
  const changes = differences(pages, presentPages(folder))
  const again = ['pnpm gen-doc-graphs', ...args.filter((arg) => arg !== '--check')].join(' ')
  if (values.check) return check(changes, shown, again, say)
  write(pages, changes, folder)
  say(`${pages.length} pages in ${shown}, ${changes.length} changed`)
  return 0
}

/** Runs the command with `args`; resolves to its exit code. */
export async function genDocGraphs(args: readonly string[], say: Say, complain: Say): Promise<number> {
  try {
    return await run(args, say)
  } catch (error) {
    const remedy = isSluiceError(error) ? error.remedy : usage
    complain(`${error instanceof Error ? error.message : String(error)}\n${remedy}`)
    return 1
  }
}
