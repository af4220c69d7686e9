/** Owns the page of the tool-execution pipeline: the stage table as a flowchart and as tables, with who takes part now. */
import { nextOf, type Opening, type StageRow, type StageTable, toMermaid } from '@sluice/pipeline'
import { batchTable, callTable, type LivePipeline, type ListenerInfo } from '@sluice/tools'
import { type Booted, serviceOf } from './boot.ts'
import { code, fence, list, page, table } from './markdown.ts'
import { Plugins } from './known-plugins.ts'
import type { Page } from './types.ts'

/** One who takes part in a stage: in few words for the chart, in all for the table. */
interface Participant {
  readonly short: string
  readonly full: string
}

function qualifiersOf({ order, scope }: Pick<ListenerInfo, 'order' | 'scope'>): string[] {
  return [...(order === 0 ? [] : [`order ${order}`]), ...(scope === undefined ? [] : [`only ${scope}`])]
}

function bracketed(words: readonly string[]): string {
  return words.length === 0 ? '' : ` (${words.join(', ')})`
}

class Participants {
  readonly plugins: Plugins
  readonly live: LivePipeline

  constructor(booted: Booted) {
    this.plugins = new Plugins(booted)
    this.live = serviceOf(booted, 'tools').live()
  }

  of(opening: Opening | undefined): Participant[] {
    switch (opening?.kind) {
      case 'waterfall':
      case 'notification':
        return (this.live.listeners.get(opening.name) ?? []).map((listener) => this.named(listener))
      case 'guards':
        return this.live.guards.map((guard) => this.named(guard, guard.name))
      case 'service':
        return this.registered(opening.name)
      case 'definition':
      case undefined:
        return []
    }
  }

  named(info: ListenerInfo, what?: string): Participant {
    const { plugin } = info
    const said = `${what === undefined ? '' : `${what} of `}${this.plugins.nameOf(plugin)}`
    const tail = qualifiersOf(info)
    const from = this.plugins.sourceOf(plugin)
    return {
      short: `${said}${bracketed(tail)}`,
      full: `${said}${bracketed([...(from === undefined ? [] : [code(from)]), ...tail])}`,
    }
  }

  providers(service: string): string[] {
    const providers = this.plugins.all.filter((plugin) => plugin.provides.some((name) => `ctx.${name}` === service))
    return providers.map(({ name, uid }) => this.named({ plugin: `${name}#${uid}`, order: 0, scope: undefined }).full)
  }

  /** Whoever has registered something with the service: its methods are named in the labels of effects. */
  registered(service: string): Participant[] {
    return this.plugins.all.flatMap((plugin) => {
      const labels = plugin.effects.filter((label) => label.startsWith(`${service}.`))
      return labels.map((label) => {
        const what = label.slice(service.length + 1).replace(/^(\w+)\("(.*)"\)$/, '$1 $2')
        return this.named({ plugin: `${plugin.name}#${plugin.uid}`, order: 0, scope: undefined }, what)
      })
    })
  }
}

function outcomesOf(row: StageRow): string {
  return Object.entries(row.outcomes)
    .map(([outcome, next]) => `${outcome} → ${code(next)}`)
    .join(', ')
}

function detoursOf(stages: StageTable, stage: string, row: StageRow): string {
  return (row.detours ?? []).map((detour) => `${detour} → ${code(nextOf(stages, stage, detour) ?? '')}`).join(', ')
}

function stageSection(stages: StageTable, stage: string, row: StageRow, participants: Participants): string {
  const { opened, answers } = row
  const parts = participants.of(opened).map(({ full }) => full)
  const rows = [
    ['Opened to plugins as', opened === undefined ? '' : `${opened.kind} ${code(opened.name)}`],
    ['Provided by', opened?.kind === 'service' ? list(participants.providers(opened.name)) : ''],
    ['Takes part now', opened === undefined || opened.kind === 'definition' ? '' : list(parts)],
    ['A listener may answer', (answers ?? []).join(', ')],
    ['Leads to', outcomesOf(row)],
    ['On failure', detoursOf(stages, stage, row)],
    ['A throw or expiry makes it', row.failsAs ?? ''],
    ['Writes', (row.writes ?? []).map(code).join(', ')],
    ['Shows', (row.shows ?? []).join(', ')],
  ].filter(([, value]) => value !== '')
  return [`### ${stage}`, row.does, table(['', ''], rows)].join('\n\n')
}

function chart(stages: StageTable, participants: Participants): string {
  const live = (stage: string) => participants.of(stages.stages[stage]?.opened).map(({ short }) => short)
  return fence('mermaid', toMermaid(stages, live))
}

function sections(stages: StageTable, participants: Participants): string[] {
  return Object.entries(stages.stages).map(([stage, row]) => stageSection(stages, stage, row, participants))
}

/** Prints `stages` as they are lived by `booted`. `batch` is the order around the calls of one message.
 *  @throws DOCS_SERVICE_MISSING */
export function pipelinePage(booted: Booted, stages: StageTable = callTable, batch: StageTable = batchTable): Page {
  const participants = new Participants(booted)
  const { otherwise, mayAllow, required } = participants.live
  const text = page('Tool execution pipeline', booted.title, [
    'Solid arrows are outcomes; dotted arrows are what happens when a stage throws, takes too long or is aborted. A stage shows who takes part in it now, in dispatch order.',
    chart(stages, participants),
    '## Verdicts',
    table(
      ['', ''],
      [
        ['When every listener abstains', code(otherwise)],
        ['Plugins whose allow counts', list([...mayAllow].sort().map(code))],
        ['Plugins without which no call runs', list([...required].sort().map(code))],
      ],
    ),
    '## Stages',
    ...sections(stages, participants),
    '## Batches',
    'All calls of one message of the model form a batch.',
    chart(batch, participants),
    ...sections(batch, participants),
  ])
  return { name: 'tool-execution-pipeline.md', text }
}
