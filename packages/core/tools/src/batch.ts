/** Owns a batch: every call admitted in request order, then independent progress, then contexts in request order. */
import { type Json, messageOf, mintId, type World } from '@sluice/base'
import { makeExecutor } from '@sluice/pipeline'
import type { Session } from '@sluice/session'
import { AbortSource } from './abort.ts'
import { usedCallIds } from './call-ids.ts'
import type { Slots } from './slots.ts'
import { CallState, type Machine } from './state.ts'
import { batchTable } from './table.ts'
import type { BatchRequest, CallRequest, SettledBatch, SettledCall } from './types.ts'

interface Batch {
  readonly request: BatchRequest
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

/** Ids that are unique in the session: one already used, or empty, is replaced by a minted one. */
function idsOf(calls: readonly CallRequest[], session: Session, world: Pick<World, 'random'>): string[] {
  const used = session.fold(usedCallIds)
  const taken = new Set<string>()
  return calls.map(({ id }) => {
    const free = typeof id === 'string' && id !== '' && !Object.hasOwn(used.ids, id) && !taken.has(id)
    const unique = free ? id.toWellFormed() : mintId(world, 'call')
    taken.add(unique)
    return unique
  })
}

/** Runs the calls of one message. Never rejects for a failure of a call. */
export async function runBatch(
  machine: Machine,
  world: Pick<World, 'random'>,
  slots: Slots,
  request: BatchRequest,
): Promise<SettledBatch> {
  const { session, agent, cutOff } = request
  const source = new AbortSource(request.signal)
  const ids = idsOf(request.calls, session, world)
  const number = session.fold(usedCallIds).batches
  let open = () => {}
  const gate = request.calls.length > 1 ? new Promise<void>((resolve) => (open = resolve)) : undefined
  const calls = request.calls.map((call, index) => {
    const id = ids[index] as string
    const originalId = id === call.id ? undefined : String(call.id)
    const onProgress = (update: Json) => {
      try {
        request.onProgress?.(id, update)
      } catch (error) {
        machine.report(`a progress listener failed: ${messageOf(error)}`)
      }
    }
    const place = { id, originalId, tool: String(call.tool), given: call.arguments, batch: number, index }
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
  const batch: Batch = { request, machine, calls, source, running: [], settled: undefined, open, gate }
  try {
    await executeBatch(batch)
    return batch.settled as SettledBatch
  } finally {
    source.close()
  }
}
