/** Owns how deep arguments and values may nest: less than JSON in general, so that the events around them fit. */
import { type LosslessCopy, losslessCopy } from '@sluice/base'

/** Levels that an event may have around arguments or a value. */
export const ENVELOPE_LEVELS = 8

/** {@link losslessCopy} of arguments or a value.
 *  @throws JSON_NOT_LOSSLESS */
export function payload(value: unknown): LosslessCopy {
  return losslessCopy(value, ENVELOPE_LEVELS)
}
