/** Owns finding the events that the plugins of a composition declare: the tables that their modules export. */
import { type Booted, compare } from '@sluice/graph'
import type { DeclaredEvent, EventTable } from '@sluice/listeners'
import type { StageTable } from '@sluice/pipeline'

export interface KnownEvent extends DeclaredEvent {
  readonly name: string
  readonly emitter: string
}

/** Known by its shape, so that a plugin without dependencies can write one. */
function isTable(value: unknown): value is EventTable {
  if (typeof value !== 'object' || value === null || !('emitter' in value) || !('events' in value)) return false
  const { emitter, events } = value
  return typeof emitter === 'string' && typeof events === 'object' && events !== null
}

/** Sorted by name. */
export function declaredEvents(booted: Booted): KnownEvent[] {
  const exported = [...booted.modules.values()].flatMap((module) =>
    typeof module === 'object' && module !== null ? (Object.values(module) as unknown[]) : [],
  )
  const found = exported
    .filter(isTable)
    .flatMap(({ emitter, events }) =>
      Object.entries(events).map(([name, { kind, when, during }]) => ({ name, emitter, kind, when, during })),
    )
  return found.sort((a, b) => compare(a.name, b.name) || compare(a.emitter, b.emitter))
}

/** Stages during which it happens: those that are opened by it, and those that its declaration names. */
export function stagesOf({ name, during }: KnownEvent, { stages }: StageTable): string[] {
  const opened = Object.entries(stages).filter(([, { opened }]) => opened?.name === name)
  return [...new Set([...opened.map(([stage]) => stage), ...during])]
}
