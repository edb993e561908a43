import { z } from 'zod'
import { isMachine } from '../domain/approval.ts'
import { type Change, Finding } from '../domain/change.ts'
import { type Request, requestStates, restOf } from '../domain/request.ts'
import { canonicalJson } from '../domain/signing.ts'
import { formatDuration, type Phrase, person, phrase, phraseText, someNames, withoutOwner } from '../domain/text.ts'
import { type Mrkdwn, mention, phraseWords, profileLink, type ShowPerson } from '../slack/text.ts'
import { explain, explainAll, phraseOf } from './refusals.ts'

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
  /** Why it ended so, or why its items did. */
  causes: z.array(Finding),
})
type EarlierEnd = z.infer<typeof EarlierEnd>

const ends: Partial<Record<Request['state'], string>> = {
  failed: 'failed',
  'not-started': "wasn't started",
  superseded: 'was superseded',
}

/** The message of the repeated request has all causes. */
const mostCauses = 5

export function earlierEndOf({ state, decision, causes, items, endedAt = 0 }: Request, now: number): EarlierEnd | undefined {
  if (state !== 'rejected' && ends[state] === undefined) return undefined
  const all = items ? restOf(items).flatMap((item) => item.causes) : causes
  const distinct = [...new Map(all.map((cause) => [canonicalJson(cause), cause])).values()]
  const { by, reason } = state === 'rejected' ? (decision ?? {}) : {}
  return {
    code: 'earlier-end',
    agoMs: Math.max(0, now - endedAt),
    state: state as EarlierEnd['state'],
    by,
    reason,
    causes: distinct.slice(0, mostCauses),
  }
}

/** `Ben rejected this 12 minutes ago: "…"` or `The last try, 12 minutes ago, failed. …` */
function earlierEndWords({ agoMs, state, by, reason, causes }: EarlierEnd, change: Pick<Change, 'explain'> | undefined): Phrase {
  const before = `${formatDuration(agoMs)} ago`
  if (state === 'rejected') {
    const who = by === undefined ? ['This was rejected'] : phrase`${person(by)} rejected this`
    return phrase`${who} ${[before]}${reason === undefined ? ['.'] : phrase`: ${reason}`}`
  }
  const why = phraseOf(explainAll(change, causes))
  return [`The last try, ${before}, ${ends[state] ?? 'ended'}.`, ...(why.length > 0 ? [' ', ...why] : [])]
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

/** `Last change 3 hours ago, by @Ben: Move 203.0.113.10: web-2 → web-1.` `title`: what was changed. */
function lastChangeWords({ agoMs, by, names }: LastChange, title: Phrase): Phrase {
  const [name = ''] = names
  const which = names.length === 1 && phraseText(title).includes(name) ? [] : phrase` of ${someNames(names, mostNamed)}`
  return phrase`Last change${which} ${[formatDuration(agoMs)]} ago, by ${person(by)}: ${withoutOwner(title, by)}.`
}

const Warning = z.discriminatedUnion('code', [EarlierEnd, LastChange])

/** Those to check first, the recent changes before the last one, and small print. People are named, because a mention would notify somebody who need not act. */
export function warningWords(
  { warnings, personNames = {} }: Pick<Request, 'warnings' | 'personNames'>,
  change: Pick<Change, 'explain'> | undefined,
  titleOf: (changed: LastChange) => Phrase,
  { profileOf = () => undefined }: { profileOf?: (userId: string) => string | undefined } = {},
): { checks: Mrkdwn[]; earlierChanges: Mrkdwn[]; notes: Mrkdwn[] } {
  const showPerson: ShowPerson = (id) => (isMachine({ userId: id }) ? mention(id) : profileLink(id, profileOf(id), personNames[id]))
  const inWords = (finding: Finding): { phrase: Phrase; isNote?: boolean; isChange?: true } => {
    const { data } = Warning.safeParse(finding)
    switch (data?.code) {
      case 'earlier-end':
        return { phrase: earlierEndWords(data, change) }
      case 'last-change':
        return { phrase: lastChangeWords(data, titleOf(data)), isNote: !isRecent(data), isChange: true }
      default: {
        const words = explain(change, finding)
        return { phrase: phraseOf(words), isNote: words.isNote }
      }
    }
  }
  const all = warnings.map(inWords)
  const show = ({ phrase: each }: { phrase: Phrase }) => phraseWords(each, showPerson)
  const checks = all.filter(({ isNote }) => !isNote)
  const earlier = checks.filter(({ isChange }) => isChange).slice(1)
  return {
    checks: checks.filter((each) => !earlier.includes(each)).map(show),
    earlierChanges: earlier.map(show),
    notes: all.filter(({ isNote }) => isNote).map(show),
  }
}
