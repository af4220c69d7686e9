import * as fsPlugin from '@sluice/fs'
import * as sessionPlugin from '@sluice/session'
import { memoryStorePlugin } from '@sluice/session'
import { type FileSeed, simWorld, worldPlugin } from '@sluice/testkit'
import * as toolsPlugin from '@sluice/tools'
import { Context } from 'cordis'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as workspace from '../src/index.ts'

const names = ['a', 'b', 'c', 'd'] as const
const name = fc.constantFrom(...names)
const hop = fc.oneof({ weight: 4, arbitrary: name }, fc.constantFrom('..', '.'))
const relative = fc.array(hop, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'))
const linkTo = fc.oneof(
  relative,
  relative.map((path) => `/out/${path}`),
  relative.map((path) => `/proj/${path}`),
  fc.constant('/'),
)
const place = fc
  .tuple(fc.constantFrom('/proj', '/proj/a', '/proj/b', '/out', '/out/a'), name)
  .map(([at, leaf]) => `${at}/${leaf}`)
const node = fc.oneof(
  fc.constant<FileSeed>(null),
  fc.constant<FileSeed>('text\n'),
  linkTo.map<FileSeed>((link) => ({ link })),
)
const farm = fc.array(fc.tuple(place, node), { maxLength: 14 })
const operation = fc.tuple(fc.constantFrom('write', 'edit', 'read', 'list'), fc.oneof(relative, linkTo))

async function compose(nodes: [string, FileSeed][]) {
  const world = simWorld({ files: { '/out/secret': 'SECRET\n', '/proj/f': 'text\n' } })
  for (const [path, seed] of nodes) {
    try {
      world.disk.plant({ [path]: seed })
    } catch {
      // A parent is a file or a circle by now: this node does not exist in this farm.
    }
  }
  const ctx = new Context()
  await ctx.plugin(worldPlugin(world))
  await ctx.plugin(memoryStorePlugin)
  await ctx.plugin(sessionPlugin, {})
  await ctx.plugin(toolsPlugin, {})
  await ctx.plugin(fsPlugin, {})
  await ctx.plugin(workspace, {})
  const session = await ctx.sessions.create({ cwd: '/proj' })
  return { ctx, world, context: { session, call: { id: 'c', tool: 'test' } } }
}

test('in any farm of links, no operation touches or shows anything outside the workspace', async () => {
  await fc.assert(
    fc.asyncProperty(farm, fc.array(operation, { minLength: 1, maxLength: 8 }), async (nodes, operations) => {
      const { ctx, world, context } = await compose(nodes)
      const outside = () => Object.entries(world.disk.tree('/')).filter(([path]) => !path.startsWith('/proj/'))
      const before = outside()
      const shown: string[] = []
      for (const [what, path] of operations) {
        try {
          if (what === 'write') await ctx.fs.write(path, 'new\n', context)
          else if (what === 'edit') await ctx.fs.edit(path, [{ oldText: 'text', newText: 'edited' }], context)
          else if (what === 'read') shown.push(...(await ctx.fs.read(path, {}, context)).lines)
          else shown.push(...(await ctx.fs.list(path, context)).entries.map((entry) => entry.name))
        } catch (error) {
          expect((error as { code?: string }).code).toMatch(/^FS_/)
        }
      }
      expect(outside()).toEqual(before)
      expect(shown).not.toContain('SECRET')
      expect(shown).not.toContain('secret')
    }),
    { numRuns: 60 },
  )
}, 60_000)
