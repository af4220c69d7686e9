/** Owns what every case about a Disk needs: its subject, and reading and writing whole files. */
import assert from 'node:assert/strict'
import { type Disk, type DiskFile, isDiskError, type OpenOptions } from '@sluice/base'
import type { ContractCase } from '../contract.ts'

export interface DiskSubject {
  readonly disk: Disk
  /** Real path of an empty directory. */
  readonly root: string
  readonly umask: number
}

/** Options of a file made for writing. */
export const fresh: OpenOptions = { read: true, write: true, create: true, exclusive: true }

export async function refuses(work: Promise<unknown>, ...codes: string[]): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(isDiskError(error), `not a DiskError: ${String(error)}`)
    assert.ok(codes.includes(error.code), `${error.code} instead of ${codes.join(' or ')}`)
    return true
  })
}

export async function using<T>(file: Promise<DiskFile>, work: (file: DiskFile) => Promise<T>): Promise<T> {
  const opened = await file
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}

export const bytesOf = (text: string) => new TextEncoder().encode(text)

export function put(disk: Disk, path: string, text = ''): Promise<void> {
  return using(disk.open(path, { write: true, create: true, truncate: true }), (file) => file.write(bytesOf(text), 0))
}

export function textOf(disk: Disk, path: string): Promise<string> {
  return using(disk.open(path, { read: true }), contentOf)
}

export async function contentOf(file: DiskFile): Promise<string> {
  const into = new Uint8Array(4096)
  return new TextDecoder().decode(into.subarray(0, await file.read(into, 0)))
}

export async function namesIn(disk: Disk, path: string): Promise<string[]> {
  return (await disk.readdir(path)).map((entry) => entry.name).sort()
}

export type DiskCase = ContractCase<DiskSubject>
