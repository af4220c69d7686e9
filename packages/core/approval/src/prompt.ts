/** Owns every sentence of this package that a model reads. */

export const expiredReason = 'this needs the approval of a person, and nobody answered in time'
