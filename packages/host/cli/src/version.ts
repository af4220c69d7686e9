/** Owns the version that the command tells; equal to that of the package. */
export const VERSION = '0.1.0'
