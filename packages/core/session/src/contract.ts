/** Owns the cases that every session store must pass. */
export {}
