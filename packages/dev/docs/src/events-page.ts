/** Owns the page of events: those that the plugins of a composition declare, and who listens to them now. */
import { type Booted, Participants } from '@sluice/graph'
import { callTable } from '@sluice/tools'
import { declaredEvents, stagesOf } from './declared-events.ts'
import { code, list, page, participant, table } from './markdown.ts'
import type { Page, PageOptions } from './types.ts'

/** Events of the framework itself. */
const FRAMEWORK = 'internal/'

/** @throws GRAPH_SERVICE_MISSING */
export function eventsPage(booted: Booted, { stages = callTable, signatures }: PageOptions = {}): Page {
  const participants = new Participants(booted)
  const events = declaredEvents(booted)
  const listeners = (event: string) => participants.listenersOf(event).map(participant)
  const rows = events.map((event) => [
    code(event.name),
    event.kind,
    event.emitter,
    stagesOf(event, stages).map(code).join(', '),
    list(listeners(event.name)),
    event.when,
  ])
  const typed = events.flatMap(({ name }) => {
    const signature = signatures?.get(name)
    return signature === undefined ? [] : [[code(name), code(signature)]]
  })
  const declared = new Set(events.map(({ name }) => name))
  const heard = new Set(participants.plugins.all.flatMap((plugin) => plugin.listens))
  const unknown = [...heard].filter((name) => !declared.has(name) && !name.startsWith(FRAMEWORK)).sort()
  const text = page('Events', booted.title, [
    'A waterfall asks its listeners one after another and joins their answers; a notification tells them. Listeners stand in dispatch order.',
    table(['Event', 'Dispatch', 'Emitted by', 'During', 'Listens now', 'When'], rows),
    ...(typed.length === 0
      ? []
      : ['## Listeners', '`Awaitable<T>` is a `T` or a promise of one.', table(['Event', 'Listener'], typed)]),
    ...(unknown.length === 0
      ? []
      : [
          '## Declared by nobody',
          'Plugins listen to these; no plugin of the composition says that it emits them.',
          table(
            ['Event', 'Listens now'],
            unknown.map((name) => [code(name), list(listeners(name))]),
          ),
        ]),
  ])
  return { name: 'events.md', text }
}
