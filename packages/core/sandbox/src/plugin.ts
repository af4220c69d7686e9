/** Owns how the sandbox is mounted. */
import type { Context } from 'cordis'
import z from 'schemastery'
import { type SandboxConfig, SandboxService } from './service.ts'

export const name = 'sandbox'
export const inject = ['world']
export const provide = 'sandbox'

export type Config = SandboxConfig

const texts = (initial: readonly string[]) => z.array(z.string()).default([...initial])

/** Credentials, and sockets of programs that act for whoever reaches them. */
const HIDDEN = [
  '/run/user',
  '/run/docker.sock',
  '/run/containerd',
  '/run/podman',
  '/run/dbus',
  '~/.ssh',
  '~/.gnupg',
  '~/.aws',
  '~/.azure',
  '~/.kube',
  '~/.docker',
  '~/.config/gcloud',
  '~/.config/gh',
  '~/.netrc',
  '~/.npmrc',
  '~/.pypirc',
  '~/.git-credentials',
]

export const Config: z<Partial<Config>, Config> = z.object({
  mode: z
    .union(['read-only', 'workspace-write', 'full'] as const)
    .default('workspace-write')
    .description('What processes may write: nothing, the working folder, or everything.'),
  hosts: texts([]).description('Hosts that processes may reach: `name`, `*.name`, also with `:port`.'),
  writable: z
    .array(z.string())
    .default(undefined as unknown as string[])
    .description('Folders that count as workspace beside the working folder, in place of those of @sluice/workspace.'),
  protectedPaths: texts([]).description('Files and folders that stay read-only, such as those of the session logs.'),
  hidden: texts(HIDDEN).description('Files and folders whose content processes do not see.'),
  unavailable: z
    .union(['ask', 'run', 'refuse'] as const)
    .default('ask')
    .description('Where nothing confines: a person must agree to each start, everything runs, or nothing does.'),
}) as z<Partial<Config>, Config>

/** What is used of `ctx.agents`. */
interface PromptSections {
  section(name: string, order: number, text: () => string): unknown
}

/** Place among the sections of the system prompt. */
const SECTION_ORDER = 400

export function apply(ctx: Context, config: Config): void {
  const service = new SandboxService(ctx, config)
  // Without agents there is no system prompt. They stand above this package, so only the one method is known here.
  ctx.inject(['agents'], (inner) => {
    const agents = inner.get('agents' as string) as PromptSections
    agents.section('sandbox', SECTION_ORDER, () => service.section())
  })
}
