/** Owns a batch: every call admitted in request order, then independent progress, then contexts in request order. */
import { type Json, messageOf, mintId, type World } from '@sluice/base'
import { AbortSource } from '@sluice/listeners'
import { makeExecutor } from '@sluice/pipeline'
import { usedCallIds } from './call-ids.ts'
import type { Slots } from './slots.ts'
import { CallState, type Machine } from './state.ts'
import { batchTable } from './table.ts'
import type { BatchRequest, SettledBatch, SettledCall } from './types.ts'

interface Batch {
  readonly calls: readonly CallState[]
  /** Lets the admitted calls go on. */
  readonly open: () => void
  running: readonly Promise<SettledCall>[]
  settled: readonly SettledCall[]
  contexts: readonly string[]
}

const executeBatch = makeExecutor<typeof batchTable, Batch>(
  batchTable,
  {
    admit(batch) {
      batch.running = batch.calls.map((state) => state.machine.run(state))
      batch.open()
      return 'admitted'
    },
    async run(batch): Promise<'settled'> {
      batch.settled = Object.freeze(await Promise.all(batch.running))
      return 'settled'
    },
    collect(batch) {
      batch.contexts = Object.freeze(batch.settled.flatMap(({ result }) => result.contexts))
      return 'collected'
    },
  },
  { record() {}, detourOf: () => 'threw', rescued() {}, aborted: () => false },
)

function nameOf(given: unknown): string {
  return (typeof given === 'string' ? given : messageOf(given)).toWellFormed()
}

/** Runs the calls of one message. Never rejects for a failure of a call. */
export async function runBatch(
  machine: Machine,
  world: Pick<World, 'random'>,
  slots: Slots,
  { session, calls: requests, agent, cutOff, signal, onProgress }: BatchRequest,
): Promise<SettledBatch> {
  const source = new AbortSource(signal)
  const used = session.fold(usedCallIds)
  const taken = new Set<string>()
  let open = () => {}
  const gate = requests.length > 1 ? new Promise<void>((resolve) => (open = resolve)) : undefined
  const calls = requests.map(({ id: wish, tool, arguments: given }, index) => {
    const wanted = nameOf(wish)
    // One already used is replaced by a minted one.
    const isFree = !used.has(wanted) && !taken.has(wanted)
    const id = isFree ? wanted : mintId(world, 'call')
    taken.add(id)
    return new CallState({
      machine,
      session,
      agent,
      id,
      originalId: isFree ? undefined : wanted,
      tool: nameOf(tool),
      given,
      batch: used.batches,
      index,
      source,
      slots,
      parent: undefined,
      cutOff,
      gate,
      onProgress(update: Json) {
        try {
          onProgress?.(id, update)
        } catch (error) {
          machine.report(`a progress listener failed: ${messageOf(error)}`)
        }
      },
    })
  })
  const batch: Batch = { calls, open, running: [], settled: [], contexts: [] }
  try {
    await executeBatch(batch)
    const { settled, contexts } = batch
    return Object.freeze({ calls: settled, contexts, endTurn: settled.some(({ result }) => result.endTurn) })
  } finally {
    source.close()
  }
}
