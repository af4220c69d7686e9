/** Owns `pnpm sim`: the long runs. `--seeds N` multiplies the seeds, `--kills N` sets the kills of real hosts; the rest goes to vitest. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, tokens } = parseArgs({
  options: { seeds: { type: 'string', default: '20' }, kills: { type: 'string', default: '200' } },
  strict: false,
  tokens: true,
})
const own = tokens.filter(({ kind, name }) => kind === 'option' && (name === 'seeds' || name === 'kills'))
const taken = new Set(own.flatMap(({ index, inlineValue }) => (inlineValue ? [index] : [index, index + 1])))
const rest = process.argv.slice(2).filter((_, index) => !taken.has(index))
const root = fileURLToPath(new URL('..', import.meta.url))
const { status } = spawnSync(
  process.execPath,
  [`${root}/node_modules/vitest/vitest.mjs`, 'run', '--config', 'vitest.sim.config.ts', ...rest],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      SLUICE_SEEDS_FACTOR: String(values.seeds),
      SLUICE_SIM_KILLS: String(values.kills),
      SLUICE_SIM_BATCHES: '10000',
      ...process.env,
    },
  },
)
process.exit(status ?? 1)
