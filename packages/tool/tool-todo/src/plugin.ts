/** Owns the wiring of the todo list. */
import type {} from '@sluice/agent'
import type { Context } from 'cordis'
import z from 'schemastery'
import { todoEvents } from './events.ts'
import { restated } from './prompt.ts'
import { todoFold } from './state.ts'
import { todoWrite } from './tool.ts'

export const name = 'tool-todo'
export const inject = ['tools', 'sessions']

export interface Config {}
export const Config: z<Config> = z.object({})

/** Place among the sections of the system prompt: behind what does not change. */
const SECTION_ORDER = 900

export function apply(ctx: Context): void {
  ctx.sessions.define(todoEvents)
  ctx.sessions.registerFold(todoFold)
  ctx.tools.register(todoWrite)
  // Without agents there is no system prompt to restate the list in.
  ctx.inject(['agents'], (inner) => {
    inner.agents.section('todo', SECTION_ORDER, (session) => {
      const { items, outOfSight } = session.fold(todoFold)
      return outOfSight && items.length > 0 ? restated(items) : ''
    })
  })
}
