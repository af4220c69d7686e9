/** Owns what every Disk does: the same cases pass on the simulated disk and on the real one. */
import { contentCases } from './disk-contract/content.contract.ts'
import { foldersCases } from './disk-contract/folders.contract.ts'
import { namingCases } from './disk-contract/names.contract.ts'
import { openingCases } from './disk-contract/opening.contract.ts'
import { permissionCases } from './disk-contract/permissions.contract.ts'
import type { DiskCase } from './disk-contract/subject.ts'

export type { DiskSubject } from './disk-contract/subject.ts'

export const diskContract: readonly DiskCase[] = [...openingCases, ...contentCases, ...namingCases, ...foldersCases]

/** For a process that is not the superuser. */
export const diskPermissionContract = permissionCases
