/** Owns whether bubblewrap can confine on this host. */
import { isDiskError, messageOf, type World } from '@sluice/base'
import type { AdapterState } from '@sluice/sandbox'
import { namespaces } from './arguments.ts'
import { findProgram } from './programs.ts'

const INSTALL = 'Install the packages bubblewrap and socat.'

export async function checkBubblewrap(world: World, folders: readonly string[]): Promise<AdapterState> {
  const { host, disk } = world
  if (host.platform !== 'linux') {
    return { available: false, why: `bubblewrap does not run on ${host.platform}`, remedy: 'Run it on Linux.' }
  }
  const bwrap = await findProgram(disk, 'bwrap', folders)
  if (bwrap === undefined) return { available: false, why: 'bubblewrap (bwrap) is not installed', remedy: INSTALL }
  const [probe, version] = await Promise.all([
    output(world, bwrap, [...namespaces, '--ro-bind', '/', '/', '--proc', '/proc', '--', 'true']),
    output(world, bwrap, ['--version']),
  ])
  if (probe.code !== 0) {
    const why = `bubblewrap cannot confine here: ${probe.text || `it ended with code ${probe.code}`}`
    return { available: false, why, remedy: 'Permit user namespaces, which containers and some systems forbid.' }
  }
  return { available: true, detail: version.text || 'bubblewrap' }
}

async function output(world: World, file: string, args: readonly string[]): Promise<{ code: number; text: string }> {
  const decoder = new TextDecoder()
  let text = ''
  const take = (bytes: Uint8Array) => {
    text += decoder.decode(bytes, { stream: true })
  }
  try {
    const options = { file, args, cwd: '/', env: { PATH: '/usr/bin:/bin' }, onStdout: take, onStderr: take }
    const child = await world.processes.spawn(options)
    await child.closed
    const { code } = await child.exited
    return { code: code ?? -1, text: text.trim() }
  } catch (error) {
    if (isDiskError(error)) return { code: -1, text: messageOf(error) }
    throw error
  }
}
