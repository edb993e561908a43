import { z } from 'zod'
import { isMachine } from '../domain/approval.ts'
import { type Change, Finding } from '../domain/change.ts'
import type { PolicyRule } from '../domain/policy.ts'
import type { Request } from '../domain/request.ts'
import { moment, type Phrase, person, phrase, phraseText, someNames, withoutOwner } from '../domain/text.ts'
import { type Mrkdwn, mention, phraseWords, profileLink, type ShowPerson } from '../slack/text.ts'
import { findingWords, phraseOf } from './why-not.ts'

/** That the repeated request was rejected, as kept in the warnings of the new one. Other ends stand in its message, which the new one links. */
const Rejected = z.object({ code: z.literal('rejected-before'), at: z.number(), by: z.string().optional(), reason: z.string().optional() })
type Rejected = z.infer<typeof Rejected>

export function rejectionOf({ state, decision, endedAt = 0 }: Request): Rejected | undefined {
  return state === 'rejected' ? { code: 'rejected-before', at: endedAt, by: decision?.by, reason: decision?.reason } : undefined
}

/** `Ben rejected this at 12:25 PM today: "…"` */
function rejectedWords({ at, by, reason }: Rejected): Phrase {
  const who = by === undefined ? ['This was rejected'] : phrase`${person(by)} rejected this`
  return phrase`${who} at ${moment(at)}${reason === undefined ? ['.'] : phrase`: ${reason}`}`
}

/** The last change that Lockkeeper made to the resource before a request, as kept in the warnings of that request. */
export const LastChange = z.object({
  code: z.literal('last-change'),
  at: z.number(),
  by: z.string(),
  requestId: z.string(),
  kind: z.string(),
  resource: z.string(),
  facts: z.unknown(),
  /** What people call those resources of the new request that it changed. Empty: it changed all of several. */
  names: z.array(z.string()),
  /** When it was sent, if it is no longer tracked, so that it may still finish. */
  sentAt: z.number().optional(),
})
export type LastChange = z.infer<typeof LastChange>

export function lastChangeOf(request: Request, names: LastChange['names'], mayFinish = false): LastChange {
  const { id, kind, resource, facts, origin, endedAt = 0, sentAt } = request
  const last = { code: 'last-change', at: endedAt, by: origin.userId, requestId: id, kind, resource, facts, names } as const
  return mayFinish ? { ...last, sentAt } : last
}

/** The most resources that one change names. */
const mostNamed = 3

/** `Last change at 12:25 PM today by @Ben: Move 203.0.113.10: web-2 → web-1.` `title`: what was changed. */
function lastChangeWords({ at, by, names, sentAt }: LastChange, title: Phrase): Phrase {
  const [name = ''] = names
  const some = names.length > mostNamed ? phrase`${names.length} of these` : someNames(names, mostNamed)
  const isKnown = names.length === 0 || (names.length === 1 && phraseText(title).includes(name))
  const which = isKnown ? [] : phrase` of ${some}`
  const what = withoutOwner(title, by)
  if (sentAt === undefined) return phrase`Last change${which} at ${moment(at)} by ${person(by)}: ${what}.`
  return phrase`An earlier change${which} may still finish: ${what}. Sent at ${moment(sentAt)} by ${person(by)}, no longer tracked.`
}

/** An approver who lacks what the rule asks for, or how many others do, as kept in the warnings of a request. */
const Unable = z.object({
  code: z.literal('unable-to-confirm'),
  lacks: z.string(),
  by: z.string().optional(),
  others: z.number().optional(),
})

/** Names three, or two and how many others. */
export function unableToConfirm(lacks = '', userIds: string[]): z.infer<typeof Unable>[] {
  const named = userIds.slice(0, userIds.length > 3 ? 2 : 3)
  const others = userIds.length - named.length
  const code = 'unable-to-confirm'
  return [...named.map((by) => ({ code, lacks, by }) as const), ...(others > 0 ? [{ code, lacks, others } as const] : [])]
}

/** That its requester can end it only by an emergency approval, as kept in the warnings of a request. */
const TooFewOthers = z.object({ code: z.literal('too-few-others'), by: z.string() })

export function tooFewOthers(isSo: boolean, by: string): z.infer<typeof TooFewOthers>[] {
  return isSo ? [{ code: 'too-few-others', by }] : []
}

/** How things differ now from what Lockkeeper's last change left. */
const ChangedOutside = z.object({ code: z.literal('changed-outside'), causes: z.array(Finding) })

function changedOutsideWords({ causes }: z.infer<typeof ChangedOutside>, change: Pick<Change, 'explain'> | undefined): Phrase {
  const named = causes.slice(0, mostNamed).flatMap((each) => [' ', ...phraseOf(findingWords(change, each))])
  const more = causes.length > mostNamed ? [` ${causes.length - mostNamed} more.`] : []
  return ['Changed outside Lockkeeper since its last change:', ...named, ...more]
}

const Warning = z.discriminatedUnion('code', [Rejected, LastChange, Unable, TooFewOthers, ChangedOutside])

const ofApprovers = z.union([Unable, TooFewOthers])

/** Those to check first, and small print. Who can't confirm an approval is of interest only while one is awaited, and the rule asks for it. People are named, because a mention would notify somebody who need not act. */
export function warningWords(
  { state, warnings, personNames = {} }: Pick<Request, 'state' | 'warnings' | 'personNames'>,
  change: Pick<Change, 'explain'> | undefined,
  titleOf: (changed: LastChange) => Phrase,
  {
    profileOf = () => undefined,
    rule,
  }: { profileOf?: (userId: string) => string | undefined; rule?: Pick<PolicyRule, 'confirmBy' | 'breakGlass'> | undefined } = {},
): { checks: Mrkdwn[]; notes: Mrkdwn[] } {
  const showPerson: ShowPerson = (id) => (isMachine({ userId: id }) ? mention(id) : profileLink(id, profileOf(id), personNames[id]))
  const inWords = (finding: Finding): { phrase: Phrase; isNote?: boolean } => {
    const { data } = Warning.safeParse(finding)
    switch (data?.code) {
      case 'rejected-before':
        return { phrase: rejectedWords(data) }
      case 'last-change':
        return { phrase: lastChangeWords(data, titleOf(data)), isNote: data.sentAt === undefined }
      case 'changed-outside':
        return { phrase: changedOutsideWords(data, change) }
      case 'unable-to-confirm': {
        const who = data.by === undefined ? phrase`${data.others ?? 0} other approvers` : phrase`${person(data.by)}`
        return { phrase: phrase`${who} had no ${data.lacks} when this was requested.`, isNote: true }
      }
      case 'too-few-others':
        return {
          phrase: phrase`Too few others could approve this when it was requested. ${person(data.by)} can approve it alone, in an emergency.`,
          isNote: true,
        }
      default: {
        const words = findingWords(change, finding)
        return { phrase: phraseOf(words), isNote: words.isNote }
      }
    }
  }
  const isOf = (each: Finding) => {
    const { data } = ofApprovers.safeParse(each)
    return !data || (state === 'waiting' && (data.code === 'too-few-others' ? rule?.breakGlass === true : data.lacks === rule?.confirmBy))
  }
  const all = warnings.filter(isOf).map(inWords)
  const show = ({ phrase: each }: { phrase: Phrase }) => phraseWords(each, showPerson)
  return { checks: all.filter(({ isNote }) => !isNote).map(show), notes: all.filter(({ isNote }) => isNote).map(show) }
}
