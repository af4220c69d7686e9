/** Owns mounting the real World as `ctx.world`. */
import type { Context } from 'cordis'
import { nodeWorld } from './world.ts'

export const name = 'world-node'
export const provide = ['world']

export function apply(ctx: Context): void {
  const world = nodeWorld()
  ctx.effect(() => () => world.dispose(), 'world')
  ctx.provide('world', world)
}
