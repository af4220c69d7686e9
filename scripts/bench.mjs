/** Bundles one of the programs of the benchmarks (`main` or `memory`) to plain JavaScript and runs it. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const dist = fileURLToPath(new URL('../packages/dev/bench/dist/', import.meta.url))
const [program = 'main', ...args] = process.argv.slice(2)
const outfile = `${dist}${program}.mjs`
await build({
  entryPoints: [fileURLToPath(new URL(`../packages/dev/bench/src/${program}.ts`, import.meta.url))],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
  external: ['quickjs-emscripten', '@vscode/ripgrep', 'tinyglobby'],
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
})
// The worker stands beside the module that starts it; its engine is found from where it is.
writeFileSync(`${dist}worker.mjs`, "import '../../../adapter/code-quickjs/src/worker.mjs'\n")
const { status } = spawnSync(process.execPath, ['--expose-gc', outfile, ...args], { stdio: 'inherit' })
process.exit(status ?? 1)
