/** Owns every sentence of this package that a model reads. */

export const askedByRule = 'a rule asks about this call'
export const deniedByRule = 'a rule denies this call'
export const planReason = 'the mode is plan: nothing may be changed'
export const headlessReason = 'nobody can be asked in this run, and no rule allows the call'
