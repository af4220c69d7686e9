/** Owns a batch: every call admitted in request order, then independent progress, then contexts in request order. */
import { type Json, messageOf, mintId, type World } from '@sluice/base'
import { makeExecutor } from '@sluice/pipeline'
import type { Session } from '@sluice/session'
import { AbortSource } from './abort.ts'
import { usedCallIds } from './call-ids.ts'
import type { Slots } from './slots.ts'
import { CallState, type Machine } from './state.ts'
import { batchTable } from './table.ts'
import type { BatchRequest, SettledBatch, SettledCall } from './types.ts'

interface Batch {
  readonly machine: Machine
  readonly calls: CallState[]
  readonly source: AbortSource
  running: Promise<void>[]
  settled: SettledBatch | undefined
  readonly open: () => void
  readonly gate: Promise<void> | undefined
}

const executeBatch = makeExecutor<typeof batchTable, Batch>(
  batchTable,
  {
    admit(batch) {
      batch.running = batch.calls.map((state) => batch.machine.run(state))
      batch.open()
      return 'admitted'
    },
    async run(batch): Promise<'settled'> {
      await Promise.all(batch.running)
      return 'settled'
    },
    collect(batch) {
      const calls = batch.calls.map((state) => state.settled as SettledCall)
      batch.settled = Object.freeze({
        calls: Object.freeze(calls),
        contexts: Object.freeze(calls.flatMap((call) => call.result.contexts)),
        endTurn: calls.some((call) => call.result.endTurn),
      })
      return 'collected'
    },
  },
  {
    record() {},
    detourOf: () => 'threw',
    rescued() {},
    aborted: () => false,
  },
)

/** The id of a call, unique in the session: one already used, or empty, is replaced by a minted one and kept as `originalId`. */
function identify(given: unknown, taken: Set<string>, session: Session, world: Pick<World, 'random'>) {
  const wanted = textOf(given)
  const free = wanted !== '' && !Object.hasOwn(session.fold(usedCallIds).ids, wanted) && !taken.has(wanted)
  const id = free ? wanted : mintId(world, 'call')
  taken.add(id)
  return { id, originalId: id === wanted ? undefined : wanted }
}

function textOf(given: unknown): string {
  return (typeof given === 'string' ? given : messageOf(given)).toWellFormed()
}

/** Runs the calls of one message. Never rejects for a failure of a call. */
export async function runBatch(
  machine: Machine,
  world: Pick<World, 'random'>,
  slots: Slots,
  request: BatchRequest,
): Promise<SettledBatch> {
  const { session, calls: requests, agent, cutOff, signal, onProgress: listen } = request
  const source = new AbortSource(signal)
  const taken = new Set<string>()
  const number = session.fold(usedCallIds).batches
  let open = () => {}
  const gate = requests.length > 1 ? new Promise<void>((resolve) => (open = resolve)) : undefined
  const calls = requests.map(({ id: given, tool, arguments: args }, index) => {
    const { id, originalId } = identify(given, taken, session, world)
    const onProgress = (update: Json) => {
      try {
        listen?.(id, update)
      } catch (error) {
        machine.report(`a progress listener failed: ${messageOf(error)}`)
      }
    }
    const place = { id, originalId, tool: textOf(tool), given: args, batch: number, index }
    return new CallState({
      machine,
      session,
      agent,
      ...place,
      source,
      slots,
      parent: undefined,
      cutOff,
      gate,
      onProgress,
    })
  })
  const batch: Batch = { machine, calls, source, running: [], settled: undefined, open, gate }
  try {
    await executeBatch(batch)
    return batch.settled as SettledBatch
  } finally {
    source.close()
  }
}
