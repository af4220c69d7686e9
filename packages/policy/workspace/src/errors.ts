/** Owns why a path is refused. */
import { defineErrors } from '@sluice/base'

const named = (d: { path: string; real: string }) => (d.path === d.real ? d.real : `${d.real} (named as ${d.path})`)

export const workspaceErrors = defineErrors({
  WORKSPACE_OUTSIDE: {
    when: 'a path leads outside every allowed folder',
    message: (d: { path: string; real: string; roots: readonly string[] }) =>
      `${named(d)} is outside the allowed folders: ${d.roots.join(', ')}`,
    remedy: 'Use a path inside an allowed folder.',
  },
  WORKSPACE_READ_ONLY: {
    when: 'a file below a read-only folder would be changed',
    message: (d: { path: string; real: string; root: string }) => `${named(d)} is below ${d.root}, which is read-only`,
    remedy: 'Write the file to another folder.',
  },
  WORKSPACE_SECRET: {
    when: 'a file whose name marks it as a secret would be read, or changed, which shows a part of it',
    message: (d: { path: string; real: string }) => `${named(d)} may hold secrets and is not shown`,
    remedy: 'Go on without its content; ask the person for what you need.',
  },
  WORKSPACE_PROTECTED: {
    when: 'a file that nobody may change through tools, such as a session log, would be changed',
    message: (d: { path: string; real: string }) => `${named(d)} is protected and is never changed by a tool`,
    remedy: 'Ask the person to change it.',
  },
  WORKSPACE_AUTHORITY: {
    when: 'a file that grants authority (rules, hooks, compositions, skills) would be changed without the consent of a person',
    message: (d: { path: string; real: string }) =>
      `${named(d)} decides what may be done here, so a person must agree to each change`,
    remedy: 'Ask the person to make the change, or to allow it when asked.',
  },
})

export type WorkspaceCode = keyof typeof workspaceErrors.table
