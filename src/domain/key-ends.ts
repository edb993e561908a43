import { z } from 'zod'

/** When a new key ends, in ms: since 1970, or after its creation, so that a slow approval takes nothing away. */
export const NewKeyEnd = z.union([z.number(), z.object({ afterMs: z.number() })])
export type NewKeyEnd = z.infer<typeof NewKeyEnd>

/** Of two keys of one name. */
export const replacedWords = 'replaced by a newer key'

const minuteMs = 60_000
const dayMs = 24 * 3_600_000
const newMs = 3_600_000

/** Names have room for the minute of an end. */
export function wholeMinute(at: number): number {
  return Math.ceil(at / minuteMs) * minuteMs
}

/** Up to ten years: longer ends protect nobody. */
export const shortestEndMs = minuteMs
export const longestEndMs = 3_650 * dayMs

/** The owner is called this long before the end, unless the key got its end less than an hour before that: a call then tells nothing new. */
export const callsBefore = [
  { call: '7d', ms: 7 * dayMs },
  { call: '1d', ms: dayMs },
] as const
export type Call = (typeof callsBefore)[number]['call']

/** The last call that is due. Earlier ones are too late. `since`: when the key got this end. All times in ms since 1970. */
export function callDue({ end, since }: { end: number; since: number }, now: number): Call | undefined {
  const due = callsBefore.filter(({ ms }) => end - ms > since + newMs && now >= end - ms)
  return now < end ? due.at(-1)?.call : undefined
}
