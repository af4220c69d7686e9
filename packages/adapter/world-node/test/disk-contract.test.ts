import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskContract, diskPermissionContract, type DiskSubject, runContract } from '@sluice/testkit'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { nodeWorld } from '../src/index.ts'

const { disk, host } = nodeWorld()
const make = (): DiskSubject => ({
  disk,
  root: realpathSync(mkdtempSync(join(tmpdir(), 'disk-contract-'))),
  umask: host.umask,
})
const dispose = ({ root }: DiskSubject) => rmSync(root, { recursive: true, force: true })

runContract(diskContract, make, { it, describe }, { title: 'the real disk', dispose })

describe('as somebody who is not the superuser', () => {
  const isSuperuser = process.getuid?.() === 0
  beforeAll(() => {
    if (isSuperuser) process.seteuid?.(65534)
  })
  afterAll(() => {
    if (isSuperuser) process.seteuid?.(0)
  })
  const cases = process.platform === 'win32' ? [] : [...diskContract, ...diskPermissionContract]
  runContract(cases, make, { it, describe }, { title: 'the real disk', dispose })
})
