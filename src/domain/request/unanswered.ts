import { z } from 'zod'

/** A time in which the account API did not answer. `until` is absent as long as it does not. Times are in ms since 1970. */
export const Unanswered = z.object({ since: z.number(), until: z.number().optional() })
export type Unanswered = z.infer<typeof Unanswered>

/**
 * Returns since when the account API has not answered while a request is under way, or from when on it did not answer until the end was seen. In ms
 * since 1970.
 */
export function unansweredSince({ unanswered }: { unanswered?: Unanswered | undefined }): number | undefined {
  return unanswered?.until === undefined ? unanswered?.since : undefined
}
