import { z } from 'zod'
import type { Change } from '../../../domain/change/change.ts'
import { explainer, type Finding, type Words } from '../../../domain/change/finding.ts'
import { ApiError, ApiUnreachableError } from '../../../domain/errors/api-errors.ts'
import type { Phrase } from '../../../domain/text/phrase.ts'
import { apiErrorSentence, refusedWrite } from '../../../slack/errors.ts'
import { phraseWords, type ShowPerson } from '../../../slack/text/phrase-words.ts'
import { type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'

/** The sentences that say that a write had no effect. */
const effects = {
  'not-sent': 'Nothing was sent or changed.',
  'not-changed': 'Nothing was changed.',
  'not-made': 'Nothing was created.',
} as const
type Effect = keyof typeof effects

const refusal = { operation: z.string(), status: z.number(), codes: z.array(z.string()), detail: z.string().optional() }

/** Everything that can end a request of any kind, or remain unchecked before it. Each kind of change has further findings. */
export const CommonFinding = z.discriminatedUnion('code', [
  z.object({ code: z.literal('api-refused'), ...refusal, effect: z.enum(['not-sent', 'not-changed', 'not-made']) }),
  z.object({ code: z.literal('api-unreachable'), effect: z.enum(['not-sent', 'not-changed', 'not-made']) }),
  /** The reads before the write got no answer. `refusal`: the account API rejected the key. */
  z.object({ code: z.literal('account-unread'), refusal: z.object(refusal).optional() }),
  z.object({ code: z.literal('approved-too-long-ago') }),
  /** The account's limit of calls a minute left no room for it. */
  z.object({ code: z.literal('limit-used-up'), perMinute: z.number().optional() }),
  z.object({ code: z.literal('record-changed') }),
  z.object({ code: z.literal('record-unverified') }),
  z.object({
    code: z.literal(['unknown-key', 'approvals-not-genuine', 'already-sent', 'already-ended', 'approval-needed-now', 'rule-gone']),
  }),
  z.object({ code: z.literal('suspended') }),
  z.object({ code: z.literal('not-used') }),
  /** `error`: Slack's code. */
  z.object({ code: z.literal('not-posted'), error: z.string() }),

  z.object({ code: z.literal('alert-resolved') }),
  z.object({ code: z.literal('approvers-unknown') }),
  z.object({ code: z.literal('channel-unreadable') }),
])
export type CommonFinding = z.infer<typeof CommonFinding>

/** Builds the cause for a write that certainly had no effect. */
export function unappliedCause(error: ApiError | ApiUnreachableError, effect: Effect): CommonFinding {
  if (error instanceof ApiUnreachableError) return { code: 'api-unreachable', effect }
  return { code: 'api-refused', ...refusalOf(error), effect }
}

export function refusalOf({ operation, status, codes, detail }: ApiError) {
  return { operation, status, codes, ...(detail === undefined ? {} : { detail }) }
}

const explainCommon = explainer(CommonFinding, commonWords)

/** Puts a finding into the words of its change, or into the common ones. Shows an unknown code as it is. */
export function explain(change: Pick<Change, 'explain'> | undefined, finding: Finding, oneOfSeveral?: string): Words {
  return change?.explain(finding) ?? explainItem(finding, oneOfSeveral) ?? explainCommon(finding) ?? { why: `${finding.code}.` }
}

/** Says of one item of several that it wasn't changed, because others may have been. */
function explainItem(finding: Finding, name: string | undefined): Words | undefined {
  const { data } = CommonFinding.safeParse(finding)
  if (name === undefined || data?.code !== 'api-refused' || data.effect === 'not-made') return undefined
  return refusedWrite(new ApiError(withoutAbsent(data)), `${name} wasn't changed.`)
}

/** Says why a request ended. `next` says what to do if the same request would fail again. `oneOfSeveral`: the name of the item. */
export function explainAll(change: Pick<Change, 'explain'> | undefined, findings: Finding[], oneOfSeveral?: string): Words {
  const words = findings.map((finding) => explain(change, finding, oneOfSeveral))
  const next = words.find((each) => each.next !== undefined)?.next
  const phrase = words.flatMap((each, index) => (index === 0 ? phraseOf(each) : [' ', ...phraseOf(each)]))
  const isMarked = words.some((each) => each.phrase !== undefined)
  return { why: words.map(({ why }) => why).join(' '), ...(isMarked ? { phrase } : {}), ...(next === undefined ? {} : { next }) }
}

/** Shows why something is so. */
export function whyWords(words: Words, showPerson?: ShowPerson): Mrkdwn {
  return phraseWords(phraseOf(words), showPerson)
}

/** Shows why a request ended, and what to do next if it is not to request the change again. */
export function endingWords(words: Words): Mrkdwn {
  const why = whyWords(words)
  return words.next === undefined ? why : mrkdwn`${why} ${words.next}`
}

/** Returns the words as a phrase. */
export function phraseOf({ why, phrase }: Words): Phrase {
  return phrase ?? (why === '' ? [] : [why])
}

/** The next step where somebody may have changed Redis: requesting the same again would hide it. */
const tellOperators = 'Tell the people who run Lockkeeper before you request it again.'

function commonWords(finding: CommonFinding): Words {
  switch (finding.code) {
    case 'api-refused':
      return refusedWrite(new ApiError(withoutAbsent(finding)), effects[finding.effect])
    case 'api-unreachable':
      return finding.effect === 'not-made'
        ? { why: "Couldn't reach the account API. Nothing was created." }
        : { why: "Couldn't reach the account API. Nothing was sent or changed." }
    case 'account-unread':
      return { why: unreadWords(finding.refusal) }
    case 'approved-too-long-ago':
      return { why: 'Approved, but not sent within 30 minutes. Nothing was changed.' }
    case 'limit-used-up':
      return {
        why: "The account's limit of calls a minute left no room for it within 30 minutes after the approval. Nothing was sent or changed.",
      }
    case 'record-changed':
      return {
        why: 'Its record in Redis no longer matches what was approved. Nothing was sent or changed. Someone may have changed Redis.',
        next: tellOperators,
      }
    case 'record-unverified':
      return { why: "Its record in Redis doesn't match what was requested. Someone may have changed Redis." }
    case 'unknown-key':
      return { why: "The request was signed with a key that Lockkeeper doesn't have. Nothing was sent or changed." }
    case 'approvals-not-genuine':
      return {
        why: "Its approvals in Redis aren't genuine. Nothing was sent or changed. Someone may have changed Redis.",
        next: tellOperators,
      }
    case 'already-sent':
      return {
        why: 'The audit shows that it was sent before. Nothing was sent again. Someone may have changed Redis.',
        next: tellOperators,
      }
    case 'already-ended':
      return { why: 'The audit shows that it had already ended. Nothing was sent. Someone may have changed Redis.', next: tellOperators }
    case 'approval-needed-now':
      return { why: 'The policy now requires approval for it. Nothing was sent or changed.' }
    case 'rule-gone':
      return {
        why: 'No policy rule covers it anymore. Nothing was sent or changed.',
        next: 'The people who run Lockkeeper can add a rule.',
      }
    case 'suspended':
      return {
        why: 'Lockkeeper was suspended before it sent the request. Nothing was changed.',
      }
    case 'not-used':
      return { why: "Approved, but the requester didn't press the button before the deadline." }
    case 'not-posted':
      return { why: `Couldn't post the request message: ${finding.error}.` }
    case 'alert-resolved':
      return { why: 'The alert resolved. Nothing was done.' }
    case 'approvers-unknown':
      return { why: "whether enough people can approve it (Slack didn't return the members of the user group)" }
    case 'channel-unreadable':
      return {
        why: 'whether this channel is shared with another organization (the Slack scope channels:read or groups:read is missing)',
      }
  }
}

function unreadWords(refused: z.infer<z.ZodObject<typeof refusal>> | undefined): string {
  const unread = "Couldn't read the account for 30 minutes after the approval. Nothing was sent or changed."
  return refused ? `${unread} ${apiErrorSentence(new ApiError(withoutAbsent(refused)))}` : unread
}

function withoutAbsent({ operation, status, codes, detail }: z.infer<z.ZodObject<typeof refusal>>) {
  return { operation, status, codes, ...(detail === undefined ? {} : { detail }) }
}
