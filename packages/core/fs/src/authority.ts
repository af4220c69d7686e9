/** Owns where the files are by which a folder decides what tools may do, or what runs. */

/** Files and folders that grant authority in any folder. `.git` holds hooks and configuration, or leads to what holds them. */
export const AUTHORITY_PLACES = ['.git', '.sluice', '.claude', '.codex', '.husky'] as const

/** The composition, which counts where the session is. */
export const COMPOSITION = 'sluice.yml'
