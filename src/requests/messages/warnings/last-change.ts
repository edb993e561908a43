import { z } from 'zod'
import type { Request } from '../../../domain/request/request.ts'
import { formatAge } from '../../../domain/text/duration.ts'
import { type Phrase, person, phrase, someNames, withoutOwner } from '../../../domain/text/phrase.ts'

/** The last change that Lockkeeper made to the resource before a request, as kept in the warnings of that request. */
export const LastChange = z.object({
  code: z.literal('last-change'),
  /** From the end of that change to this request, in ms. */
  agoMs: z.number(),
  /** The Slack id of the person who requested it. */
  by: z.string(),
  requestId: z.string(),
  kind: z.string(),
  resource: z.string(),
  facts: z.unknown(),
  /** What people call those resources of the new request that it changed. */
  names: z.array(z.string()),
  /** Whether a later change is listed that changed the same thing, such as a move of one address of a server. */
  isOlder: z.boolean().optional(),
})
export type LastChange = z.infer<typeof LastChange>

/** Recent changes that are not listed: how many resources they changed. */
export const MoreChanges = z.object({ code: z.literal('more-changes'), count: z.number() })
export type MoreChanges = z.infer<typeof MoreChanges>

/** A change that is newer is something to check first: somebody may still be at work. An older one is small print. */
const recentMs = 24 * 3_600_000

export function isRecent({ agoMs }: LastChange): boolean {
  return agoMs < recentMs
}

/** Builds the finding. `now`: ms since 1970 by Redis' clock. */
export function lastChangeOf(
  { id, kind, resource, facts, origin, endedAt = 0 }: Request,
  now: number,
  names: LastChange['names'],
): LastChange {
  return { code: 'last-change', agoMs: Math.max(0, now - endedAt), by: origin.userId, requestId: id, kind, resource, facts, names }
}

/** The most resources that one change names. */
const mostNamed = 3

/** `203.0.113.10 was last changed 3 hours before this request, by @Ben: Move 203.0.113.10: web-2 → web-1.` `title`: what was changed. */
export function lastChangeWords({ agoMs, by, names, isOlder = false }: LastChange, title: Phrase): Phrase {
  return phrase`${someNames(names, mostNamed)} ${[names.length > 1 ? 'were' : 'was']} ${[isOlder ? 'also' : 'last']} changed ${[formatAge(agoMs)]} before this request, by ${person(by)}: ${withoutOwner(title, by)}.`
}

/** `4 more were changed in the 24 hours before this request.` */
export function moreChangesWords({ count }: MoreChanges): Phrase {
  return phrase`${count} more ${[count === 1 ? 'was' : 'were']} changed in the 24 hours before this request.`
}
