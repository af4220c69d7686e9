import { runContract } from '@sluice/testkit'
import { describe, it } from 'vitest'
import { storeContract } from '../src/contract.ts'
import { memoryStore } from '../src/index.ts'

const subject = () => {
  const store = memoryStore()
  return { store, again: () => store }
}
runContract(storeContract, subject, { it, describe }, { title: 'memory store' })
