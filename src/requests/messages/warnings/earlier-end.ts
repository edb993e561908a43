import { z } from 'zod'
import type { Change } from '../../../domain/change/change.ts'
import { Finding, type Words } from '../../../domain/change/finding.ts'
import { type Request, requestStates } from '../../../domain/request/request.ts'
import { restOf } from '../../../domain/request/request-item.ts'
import { formatAge } from '../../../domain/text/duration.ts'
import { type Phrase, person, phrase } from '../../../domain/text/phrase.ts'
import { explainAll, phraseOf } from '../refusals/causes.ts'

/** How the repeated request ended, as kept in the warnings of the new one. */
export const EarlierEnd = z.object({
  code: z.literal('earlier-end'),
  /** From that end to the new request, in ms. */
  agoMs: z.number(),
  state: z.enum(requestStates),
  /** The Slack id of the person who rejected it. */
  by: z.string().optional(),
  /** Why that person rejected it. */
  reason: z.string().optional(),
  /** Why it ended so. For one of several items, why each of them did; `name` is the item. */
  ends: z.array(z.object({ name: z.string().optional(), causes: z.array(Finding) })),
})
export type EarlierEnd = z.infer<typeof EarlierEnd>

/** What is said of each end that tells approvers something about the change. A rejection names who rejected it. */
const ends: Partial<Record<Request['state'], string>> = {
  failed: 'failed',
  'not-started': "wasn't started",
  superseded: 'was superseded',
}

/** The warning lists at most this many items. The message of the repeated request lists all of them. */
const mostItems = 5

/**
 * Builds the finding. Undefined if approvers need not know how the request ended. `now`: ms since 1970 by Redis' clock. `names`: what
 * people call the items of the new request, by their ids.
 */
export function earlierEndOf(
  { state, decision, causes, items, endedAt = 0 }: Request,
  now: number,
  names: ReadonlyMap<string, string>,
): EarlierEnd | undefined {
  if (state !== 'rejected' && ends[state] === undefined) return undefined
  const ended = items
    ? restOf(items)
        .filter(({ id }) => names.has(id))
        .slice(0, mostItems)
        .map(({ id, causes: own }) => ({ name: names.get(id), causes: own }))
    : [{ causes }]
  const { by, reason } = state === 'rejected' ? (decision ?? {}) : {}
  return {
    code: 'earlier-end',
    agoMs: Math.max(0, now - endedAt),
    state: state as EarlierEnd['state'],
    ...(by === undefined ? {} : { by }),
    ...(reason === undefined ? {} : { reason }),
    ends: ended.filter((each) => each.causes.length > 0),
  }
}

/** `Ben rejected this 12 minutes before this request: "…"` or `The last try, 12 minutes before this request, failed. …` */
export function earlierEndWords(
  { agoMs, state, by, reason, ends: ended }: EarlierEnd,
  change: Pick<Change, 'explain'> | undefined,
): Phrase {
  const before = `${formatAge(agoMs)} before this request`
  if (state === 'rejected') {
    const who = by === undefined ? ['This was rejected'] : phrase`${person(by)} rejected this`
    return reason === undefined ? phrase`${who} ${[before]}.` : phrase`${who} ${[before]}: ${reason}`
  }
  const why = ended.map(({ name, causes }): Words => explainAll(change, causes, name))
  return [`The last try, ${before}, ${ends[state] ?? 'ended'}.`, ...why.flatMap((each) => [' ', ...phraseOf(each)])]
}
