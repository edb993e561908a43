import { z } from 'zod'
import { isMachine } from '../domain/approval.ts'
import { type Change, Finding, type Words } from '../domain/change.ts'
import { type Request, requestStates, restOf } from '../domain/request.ts'
import { formatAge, type Phrase, person, phrase, someNames, withoutOwner } from '../domain/text.ts'
import { type Mrkdwn, mention, phraseWords, profileLink, type ShowPerson } from '../slack/text.ts'
import { explain, explainAll, phraseOf, whyWords } from './refusals.ts'

/** How the repeated request ended, as kept in the warnings of the new one. */
const EarlierEnd = z.object({
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
type EarlierEnd = z.infer<typeof EarlierEnd>

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
    by,
    reason,
    ends: ended.filter((each) => each.causes.length > 0),
  }
}

/** `Ben rejected this 12 minutes before this request: "…"` or `The last try, 12 minutes before this request, failed. …` */
function earlierEndWords({ agoMs, state, by, reason, ends: ended }: EarlierEnd, change: Pick<Change, 'explain'> | undefined): Phrase {
  const before = `${formatAge(agoMs)} before this request`
  if (state === 'rejected') {
    const who = by === undefined ? ['This was rejected'] : phrase`${person(by)} rejected this`
    return reason === undefined ? phrase`${who} ${[before]}.` : phrase`${who} ${[before]}: ${reason}`
  }
  const why = ended.map(({ name, causes }): Words => explainAll(change, causes, name))
  return [`The last try, ${before}, ${ends[state] ?? 'ended'}.`, ...why.flatMap((each) => [' ', ...phraseOf(each)])]
}

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
})
export type LastChange = z.infer<typeof LastChange>

/** A change that is newer is something to check first: somebody may still be at work. An older one is small print. */
const recentMs = 24 * 3_600_000

export function isRecent({ agoMs }: LastChange): boolean {
  return agoMs < recentMs
}

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
function lastChangeWords({ agoMs, by, names }: LastChange, title: Phrase): Phrase {
  return phrase`${someNames(names, mostNamed)} ${[names.length > 1 ? 'were' : 'was']} last changed ${[formatAge(agoMs)]} before this request, by ${person(by)}: ${withoutOwner(title, by)}.`
}

/** The warnings of a request in words: those to check first, and small print. */
export interface WarningWords {
  checks: Mrkdwn[]
  notes: Mrkdwn[]
}

/** Puts the warnings of a request into words. People in them are named, because a mention would notify somebody who need not act. */
export function warningWords(
  { warnings, personNames = {} }: Pick<Request, 'warnings' | 'personNames'>,
  change: Pick<Change, 'explain'> | undefined,
  titleOf: (changed: LastChange) => Phrase,
  { profileOf = () => undefined }: { profileOf?: (userId: string) => string | undefined } = {},
): WarningWords {
  const showPerson: ShowPerson = (id) => (isMachine({ userId: id }) ? mention(id) : profileLink(id, profileOf(id), personNames[id]))
  const words: WarningWords = { checks: [], notes: [] }
  for (const finding of warnings) {
    const [last, earlier] = [LastChange.safeParse(finding), EarlierEnd.safeParse(finding)]
    if (last.success) {
      words[isRecent(last.data) ? 'checks' : 'notes'].push(phraseWords(lastChangeWords(last.data, titleOf(last.data)), showPerson))
    } else if (earlier.success) words.checks.push(phraseWords(earlierEndWords(earlier.data, change), showPerson))
    else {
      const explained = explain(change, finding)
      words[explained.isNote ? 'notes' : 'checks'].push(whyWords(explained, showPerson))
    }
  }
  return words
}
