import { z } from 'zod'
import { alertsRequester, type Denial, type DeniedAction, isMachine } from '../domain/approval.ts'
import { type Change, type Description, explainer, type Finding, type Words } from '../domain/change.ts'
import { ApiError, ApiUnreachableError } from '../domain/errors.ts'
import { type ApproveTerms, approversOf } from '../domain/policy.ts'
import { isOpen, type Request, unverifiedRecord } from '../domain/request.ts'
import type { Phrase } from '../domain/text.ts'
import { apiErrorSentence, Refusal, refusedWrite } from '../slack/errors.ts'
import { alternatives, channelMention, code, type Mrkdwn, mention, mrkdwn, ownWords, phraseWords, quotedTitle } from '../slack/text.ts'
import { cardButtons } from './button-ids.ts'
import { unreadableFreeze } from './freezes.ts'
import {
  type LinkedRequest,
  listed,
  notInChannel,
  requestLink,
  ruleWords,
  shortId,
  stateWords,
  whoApproves,
  whoIsIn,
} from './request-words.ts'

const effects = {
  'not-sent': 'Nothing was changed.',
  'not-changed': 'Nothing was changed.',
  'not-made': 'Nothing was created.',
} as const
type Effect = keyof typeof effects
const effectOfWrite = z.enum(Object.keys(effects) as Effect[])

const refusal = { operation: z.string(), status: z.number(), codes: z.array(z.string()), detail: z.string().optional() }

/** The next step where somebody may have changed Redis: requesting the same again would hide it. */
const tellOperators = "Tell Lockkeeper's operators before you request it again."

/** What can end a request of any kind, or remain unchecked before it, and needs no data. */
const constant = {
  'approved-too-long-ago': { why: 'Approved, but not started within 30 minutes. Nothing was changed.' },
  'frozen-too-long': { why: 'Approved, but a freeze held it for too long. Nothing was changed.' },
  'window-missed': { why: 'Approved, but not started while its window was open. Nothing was changed.' },
  'requester-lost-right': { why: 'Its requester no longer has the right to request it. Nothing was changed.' },
  'approvals-lost': { why: 'Too few of its approvers may still approve. Nothing was changed.' },
  'limit-used-up': { why: "The account's limit was used up for 30 minutes. Nothing was changed." },
  'rights-unknown': { why: "Slack didn't confirm the approvers for 30 minutes. Nothing was changed." },
  'record-changed': {
    why: "Its record in Redis doesn't match what was approved. Nothing was sent.",
    next: tellOperators,
  },
  'record-unverified': { why: "Its record in Redis doesn't match what was requested." },
  'unknown-key': { why: "It was signed with a key that Lockkeeper doesn't have. Nothing was changed." },
  'approvals-not-genuine': {
    why: "Its approvals in Redis aren't genuine. Nothing was sent.",
    next: tellOperators,
  },
  'already-sent': {
    why: 'The audit shows that it was already sent. Nothing was sent again.',
    next: tellOperators,
  },
  'already-ended': {
    why: 'The audit shows that it already ended. Nothing was sent.',
    next: tellOperators,
  },
  'approval-needed-now': { why: 'It lacks approvals that the policy now requires. Nothing was changed.' },
  'rule-gone': {
    why: 'No policy rule covers it anymore. Nothing was changed.',
    next: "Lockkeeper's operators can add a rule.",
  },
  'end-not-allowed': {
    why: "The policy doesn't allow the end that the key would get. Nothing was changed.",
    next: 'Request it with another end.',
  },
  'confirmation-needed-now': { why: 'The policy now requires a passkey for its approvals. Nothing was changed.' },
  'confirmation-lost': { why: "A passkey that approved it was removed or can't be verified. Nothing was changed." },
  'data-lost': { why: 'Redis lost its data.' },
  'set-back': { why: 'Redis went back to an older state.' },
  'freeze-missing': { why: 'The record of freezes was gone.' },
  'freeze-older': { why: 'The record of freezes was older than one read before.' },
  'freeze-forged': { why: "The record of freezes wasn't one that Lockkeeper wrote." },
  'changed-by-another': { why: 'Another request changed it since.' },
  'not-used': { why: 'Approved, but no token was created in time.' },
  'alert-resolved': { why: 'The alert resolved. Nothing was done.' },
  'machine-gone': { why: 'The policy no longer lets this machine request it.' },
  'approvers-unknown': { why: "whether enough people can approve it (Slack didn't return the user group)" },
  'channel-unreadable': {
    why: 'whether another organization shares this channel (scope channels:read or groups:read missing)',
  },
} satisfies Record<string, Words>

/** Everything that can end a request of any kind, or remain unchecked before it. Each kind of change has further findings. */
export const CommonFinding = z.discriminatedUnion('code', [
  z.object({ code: z.literal('api-refused'), ...refusal, effect: effectOfWrite }),
  z.object({ code: z.literal('api-unreachable'), effect: effectOfWrite }),
  /** The reads before the write got no answer. `refusal`: the account API rejected the key. */
  z.object({ code: z.literal('account-unread'), refusal: z.object(refusal).optional() }),
  z.object({ code: z.literal('not-posted'), error: z.string() }),
  z.object({ code: z.literal(Object.keys(constant) as (keyof typeof constant)[]) }),
])
export type CommonFinding = z.infer<typeof CommonFinding>

export function unappliedCause(error: ApiError | ApiUnreachableError, effect: Effect): CommonFinding {
  if (error instanceof ApiUnreachableError) return { code: 'api-unreachable', effect }
  return { code: 'api-refused', ...refusalOf(error), effect }
}

export function refusalOf({ operation, status, codes, detail }: ApiError) {
  return { operation, status, codes, detail }
}

const explainCommon = explainer(CommonFinding, commonWords)

/** For approvers, after the policy has changed. */
export function endNotAllowed(rule: string): Mrkdwn {
  return mrkdwn`The rule “${rule}” no longer allows this end, so nothing was approved. Reject it, so that it is requested with another end.`
}

/** Puts a finding into the words of its change, or into the common ones. Shows an unknown code as it is. */
export function findingWords(change: Pick<Change, 'explain'> | undefined, finding: Finding): Words {
  return change?.explain(finding) ?? explainCommon(finding) ?? { why: `${finding.code}.` }
}

export function wordsOfFindings(change: Pick<Change, 'explain'> | undefined, findings: Finding[]): Words {
  const words = findings.map((finding) => findingWords(change, finding))
  const next = words.find((each) => each.next)?.next ?? words.find((each) => each.next !== undefined)?.next
  const phrase = words.flatMap((each, index) => (index === 0 ? phraseOf(each) : [' ', ...phraseOf(each)]))
  return { why: words.map(({ why }) => why).join(' '), phrase, next }
}

export function whyWords(words: Words): Mrkdwn {
  return phraseWords(phraseOf(words))
}

export function endingWords(words: Words): Mrkdwn {
  const why = whyWords(words)
  return words.next ? mrkdwn`${why} ${words.next}` : why
}

export function phraseOf({ why, phrase }: Words): Phrase {
  return phrase ?? (why === '' ? [] : [why])
}

function commonWords(finding: CommonFinding): Words {
  switch (finding.code) {
    case 'api-refused':
      return refusedWrite(new ApiError(finding), effects[finding.effect])
    case 'api-unreachable':
      return { why: `Couldn't reach the account API. ${effects[finding.effect]}` }
    case 'account-unread': {
      if (finding.refusal) return { why: `Nothing was changed. ${apiErrorSentence(new ApiError(finding.refusal))}` }
      return { why: "Couldn't read the account for 30 minutes. Nothing was changed." }
    }
    case 'not-posted':
      return { why: `Couldn't post the request message: ${finding.error}.` }
    default:
      return constant[finding.code]
  }
}

const changedNothing = mrkdwn`No change made.`

/** Says it where the request is being carried out, because there *No change made* would read as a word on the account. */
const clickedInVain = mrkdwn`Your click had no effect.`

/** `wouldStop`: for a person who wanted to reject it, and may withdraw it. */
export function tooLate(request: Request, clickerId: string, wouldStop = false): Refusal {
  return new Refusal(request.state === 'waiting' ? 'not-approved-yet' : 'too-late', tooLateWords(request, clickerId, wouldStop))
}

function tooLateWords(request: Request, clickerId: string, wouldStop: boolean): Mrkdwn {
  const by = request.decision?.by
  const who = by === undefined ? mrkdwn`` : by === clickerId ? mrkdwn` by you` : mrkdwn` by ${mention(by)}`
  switch (request.state) {
    case 'rejected':
      return mrkdwn`Already rejected${who}. ${changedNothing}`
    case 'withdrawn':
      return mrkdwn`${mention(request.withdrawnBy ?? request.origin.userId)} already withdrew this${request.withdrawnBy === undefined ? ', because the alert resolved' : ''}. ${changedNothing}`
    case 'expired':
      return mrkdwn`${request.causes.length > 0 ? `This expired. ${wordsOfFindings(undefined, request.causes).why}` : 'This expired before it was approved.'} Nothing was done.`
    case 'voided':
      return mrkdwn`Already canceled. Nothing was done.`
    case 'waiting':
      return mrkdwn`This request still needs approval. ${changedNothing}`
    case 'approved':
      return mrkdwn`Already approved${who}. ${clickedInVain}${wouldStop ? " To stop it before it's sent, press *Withdraw*." : ''}`
    default:
      return isOpen(request.state)
        ? mrkdwn`Already approved${who} (${stateWords(request)}). ${clickedInVain}`
        : mrkdwn`Approved${who}, and ended since (${stateWords(request)}). ${clickedInVain}`
  }
}

/** Refuses to undo what a later request changed. */
export function alreadyChanged(title: Phrase, request: LinkedRequest): Mrkdwn {
  return mrkdwn`Changed since by ${requestLink(request)}: ${quotedTitle(title)}. To change it again, use the command.`
}

export function approvedByYou(missing: number): Mrkdwn {
  return mrkdwn`You already approved this, so nothing changed. ${moreNeeded(missing)}`
}

export function counted({ missing, needed }: { missing: number; needed: number }): Mrkdwn {
  return mrkdwn`Approved (${needed - missing} of ${needed}). ${moreNeeded(missing)}`
}

function moreNeeded(missing: number): string {
  // The rule asks for fewer by now, or somebody joined a group.
  if (missing === 0) return 'It is enough by now: another approver presses *Approve*.'
  return `${missing === 1 ? 'One' : missing} more needed.`
}

export function unknownRequest(command: string): Mrkdwn {
  return mrkdwn`This request is older than 30 days, or Redis lost it, so nothing was done. Run the command again, or see ${code(`${command} audit`)}.`
}

export const changedRecord: Mrkdwn = mrkdwn`The record of this request was changed, so nothing was done. ${tellOperators}`

export function takenOver(other: LinkedRequest): Mrkdwn {
  return mrkdwn`Not tracked again: ${requestLink(other)} about the same is still open. Press the button again once it has ended.`
}

/** Returns the words for a kind of change that follow *allows*: `moving an Elastic IP`. */
export type LabelOf = (kind: string) => string

const actionWords: Record<DeniedAction, string> = {
  read: 'use Lockkeeper',
  request: 'request changes',
  decide: 'approve or reject requests',
  freeze: 'freeze changes',
}

const outsiders = {
  guest: 'Guests',
  bot: 'Bots',
  deactivated: 'Deactivated accounts',
  'other-workspace': 'People from other workspaces',
}

const tryAgain = 'so nothing was done. Try again in a minute.'

/** `button`: the one that was pressed. */
export function denialWords(denial: Denial, labelOf: LabelOf, command = '', button?: string): Mrkdwn {
  switch (denial.code) {
    case 'person-unknown':
      return mrkdwn`Slack didn't confirm who you are, ${tryAgain}`
    case 'guest':
    case 'bot':
    case 'deactivated':
    case 'other-workspace':
      return mrkdwn`${outsiders[denial.code]} can't ${actionWords[denial.action]}. Ask a full member.`
    case 'shared-channel':
      return mrkdwn`Nobody can ${actionWords[denial.action]} here: another organization shares this channel. Use another channel.`
    case 'channel-unknown':
      return mrkdwn`Slack didn't confirm whether another organization shares this channel, ${tryAgain}`
    case 'direct-message':
      return mrkdwn`Changes can't be requested in a direct message, where no approver sees them. Use a channel.`
    case 'not-in-channel':
      return notInChannel
    case 'foreign-channel':
      return mrkdwn`Slack doesn't list you as a member of this channel. Use another one.`
    case 'no-rule':
      return mrkdwn`No policy rule allows ${labelOf(denial.kind)} here. ${whereElse(denial.channels)}`
    case 'project-unknown':
      return mrkdwn`Not requested: couldn't read the project for the ${ruleWords(denial.rule)}. Try again in a minute.`
    case 'no-emergency':
      return mrkdwn`Not approved: the ${ruleWords(denial.rule)} allows no emergency approval. Approve it without the emergency option: it then waits.`
    case 'not-named-by-rule':
      return mrkdwn`Not requested: the ${ruleWords(denial.rule)} doesn't name ${machineWords(denial.machine)}. Lockkeeper's operators can add it.`
    case 'alerts-need-approval':
      return mrkdwn`Not requested: the ${ruleWords(denial.rule)} needs no approval, and ${denial.machine === undefined ? 'alerts' : 'machines'} always need one.`
    case 'keys-need-people':
      return mrkdwn`Not requested: machines can't request changes of API keys.`
    case 'not-a-requester':
      if (whoIsIn(denial.requesters).text === '') return mrkdwn`Only machines can request this here. Ask Lockkeeper's operators.`
      return mrkdwn`Only ${whoIsIn(denial.requesters)} can request this here.`
    case 'not-an-approver':
      return mrkdwn`You aren't an approver of this. These are: ${whoApproves(denial.approvers)}.`
    case 'not-a-freezer':
      if (whoIsIn(denial.freezers).text === '') return mrkdwn`No rule lets people freeze changes. Lockkeeper's operators can add one.`
      return mrkdwn`Only ${whoIsIn(denial.freezers)} can freeze or unfreeze changes.`
    case 'not-involved':
      return mrkdwn`Only ${whoIsInvolved(denial)} can stop or restart tracking.`
    case 'only-involved-may-withdraw':
      return mrkdwn`Only ${whoIsInvolved(denial)} can withdraw it.`
    case 'too-few-approvers':
      return mrkdwn`Not requested: ${ruleWords(denial.rule)} needs ${denial.needed} ${denial.needed === 1 ? 'approver' : 'approvers'}${denial.confirm ? ` with a ${denial.confirm.by}` : ''}${denial.requester === undefined ? ' besides you' : ''}. ${denial.confirm ? mrkdwn`Ask ${whoIsIn(denial.confirm.others, denial.needed === 1 ? 'or' : 'and')} to add one: ${code(`${command} ${denial.confirm.by}s`)}.` : "Lockkeeper's operators can add some."}`
    case 'group-unknown':
      return mrkdwn`Slack didn't return the members of the user group, ${tryAgain}`
    case 'own-request':
      return mrkdwn`You requested this, so an approver other than you must ${button === cardButtons.startNow ? mrkdwn`press *Start now*` : 'decide'}. To cancel it, press *Withdraw*.`
    case 'rule-gone':
      return mrkdwn`No policy rule covers this anymore. Lockkeeper's operators can add a rule.`
    case 'only-requester-may-issue':
      return mrkdwn`Only ${mention(denial.requester)}, the requester, can create this token.`
    case 'only-requester-may-withdraw':
      return mrkdwn`Only ${mention(denial.requester)}, the requester, can withdraw this. Approvers can reject it.`
    case 'only-requester-may-break-glass':
      if (isMachine({ userId: denial.requester }))
        return mrkdwn`${denial.requester === alertsRequester ? 'An alert' : mention(denial.requester)} requested this, so nobody can approve it alone.`
      return mrkdwn`Only ${mention(denial.requester)}, the requester, can approve this alone.`
    case 'stale-card':
      return mrkdwn`This button isn't on the request message, so nothing was done. Use that message.`
    case 'foreign-button':
      return mrkdwn`This button belongs to another request, or was changed, so nothing was done. Use the request message.`
    case 'unknown-request':
      return unknownRequest(command)
    case 'record-changed':
      return changedRecord
    case 'unknown-key':
      return mrkdwn`This was signed with a key that Lockkeeper doesn't have (${code('STATE_KEY')}), so nothing was changed. Request it again.`
    case 'freeze-over':
      return mrkdwn`This freeze is over, or another one is on. Nothing was changed. ${code(`${command} unfreeze`)} lifts what is on.`
    case 'freeze-unreadable':
      return mrkdwn`Nothing was changed. ${unreadableFreeze} Lockkeeper's operators can find out why with ${code('/status')}.`
    case 'other-version':
      return mrkdwn`Another version of Lockkeeper made this, so nothing was changed. Try again in a few minutes.`
  }
}

/** To an approver who has nothing to confirm with. `isEvery`: every rule that lets them approve asks for it. */
export function lackWords(rules: string[], isEvery: boolean, what: string, command: string): Mrkdwn {
  const named = listed(
    rules.map((name) => mrkdwn`“${name}”`.text),
    'and',
  )
  const several = isEvery ? mrkdwn`Every rule that lets you approve asks` : mrkdwn`The rules ${ownWords(named)} ask`
  const asking = rules.length === 1 ? mrkdwn`The ${ruleWords(rules[0] ?? '')} asks` : several
  return mrkdwn`${asking} for a ${what}, and you have none. ${code(`${command} ${what}s`)} adds one.`
}

function whoIsInvolved({ requester, approvers }: { requester: string; approvers: ApproveTerms }): Mrkdwn {
  const requested = requester === alertsRequester ? mrkdwn`` : mrkdwn`${mention(requester)} and `
  return mrkdwn`${requested}its approvers (${whoIsIn(approversOf(approvers))})`
}

function machineWords(machine: string | undefined): Mrkdwn {
  return machine === undefined ? mrkdwn`alerts` : mention(machine)
}

function whereElse(channels: string[]): Mrkdwn {
  if (channels.length === 0) return mrkdwn`Lockkeeper's operators can add one.`
  return mrkdwn`Request it in ${alternatives(channels.map(channelMention))}.`
}

export function unreadableRequests(count: number): Mrkdwn[] {
  if (count <= 0) return []
  const requests = count === 1 ? "1 request isn't" : `${count} requests aren't`
  return [mrkdwn`:warning: ${requests} listed: written by another version of Lockkeeper.`]
}

/** Shows nothing of what the record says: approvers approve what they see, so somebody who can write to Redis must not choose it. */
export function unverifiedDescription(request: Pick<Request, 'id'>): Description {
  return {
    title: [`Unverified request ${shortId(request)}`],
    facts: [{ label: 'Not shown', value: "The record in Redis doesn't match its signature, or was signed with an unknown key." }],
    ids: [],
    underway: 'in progress',
  }
}

export function isDistrusted({ state, causes }: Pick<Request, 'state' | 'causes'>): boolean {
  return state === 'untracked' && causes.some(({ code }) => code === unverifiedRecord.code)
}
