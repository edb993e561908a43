import { splitSubject, wordsIn } from '../journeys/subject.ts'
import type { OpenView } from '../sandbox/slack/slack.ts'
import type { Answer } from './request-model.ts'

const words: [RegExp, Answer][] = [
  [/^Approved \(\d of \d\)\. (One|\d) more needed\.$/, 'counted'],
  [/^You already approved this, so nothing changed\. (One|\d) more needed\./, 'duplicate'],
  [/^This request still needs approval/, 'still waiting'],
  [
    /^Already approved( by you| by <@\w+>)?( \((starting|in progress|status unknown)\))?\. Your click had no effect\.( To stop it before it's sent, press \*Withdraw\*\.)?$/,
    'too late:approved',
  ],
  [
    /^Approved( by you| by <@\w+>)?, and ended since \((done|superseded|not started|no longer tracked)\)\. Your click had no effect\.$/,
    'too late:approved',
  ],
  [/^Already rejected( by you| by <@\w+>)\. No change made\.$/, 'too late:rejected'],
  [/^<@\w+> already withdrew this\. No change made\.$/, 'too late:withdrawn'],
  [/^This expired before it was approved\. Nothing was done/, 'too late:expired'],
  [/^Guests can't use Lockkeeper\./, 'denied:guest'],
  [/^People from other workspaces can't use Lockkeeper\./, 'denied:stranger'],
  [/^You requested this, so an approver other than you must decide\./, 'denied:self'],
  [/^You aren't an approver of this\. These are: .*\.$/, 'denied:approver'],
  [/^Only <@\w+> and its approvers \(.*\) can (withdraw it|stop or restart tracking)\.$/, 'denied:approver'],
  [/^Only <@\w+>, the requester, can withdraw this\./, 'denied:owner'],
  [/^Only .* can request this here\.$/, 'denied:requester'],
  [/^Slack didn't return the members of the user group, so nothing was done\./, 'denied:unchecked'],
  [/^Not tracked again: .* about the same is still open\./, 'taken over'],
  [/^This button belongs to another request/, 'forged'],
  [/^This request is older than 30 days, or Redis lost it/, 'unknown'],
  [/^This button isn't on the request message/, 'stale'],
  [/^Lockkeeper's database \(Redis\) isn't responding\. .*(nothing runs twice|before you try again|Try again in a minute)\./, 'redis away'],
  [/^Not approved: Redis isn't responding\. Try again in a minute\.$/, 'redis away'],
]

/** The answers to clicks that may not know which request they are about, or must not tell. */
const nameless: Answer[] = ['denied:guest', 'denied:stranger', 'forged', 'unknown', 'stale', 'redis away']

export function meaningOf(text: string): Answer {
  const found = words.find(([pattern]) => pattern.test(splitSubject(text).words))
  if (!found) throw new Error(`words that answer no click: ${text}`)
  return found[1]
}

/** The same for the answer to a click on this request. Throws for a message that names no request, or another one. */
export function meaningAbout({ id }: { id: string }, text: string): Answer {
  const answer = meaningOf(text)
  const { about } = splitSubject(text)
  const isNamed = about === undefined ? nameless.includes(answer) : id.startsWith(about)
  if (!isNamed) throw new Error(`an answer to a click on request ${id} names ${about ?? 'none'}: ${text}`)
  return answer
}

const titles: Record<string, Answer> = {
  Approve: 'form:approve',
  'Reject request': 'form:reject',
  'Emergency approval': 'form:break-glass',
  'Move an Elastic IP': 'form:again',
  'Rename a virtual machine': 'form:again',
}

export function meaningOfView({ title, view }: Pick<OpenView, 'title' | 'view'>): Answer {
  const form = titles[title]
  return form ?? meaningOf(wordsIn(view))
}
