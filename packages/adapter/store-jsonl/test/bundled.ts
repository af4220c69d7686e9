/** Owns a program of the tests as one file of plain JavaScript, which starts in a tenth of the time. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** Path of the bundle of `source`, made in `folder`. */
export async function bundled(source: URL, folder: string): Promise<string> {
  const outfile = join(folder, 'program.mjs')
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  })
  return outfile
}
