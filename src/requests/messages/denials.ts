import { Denial, type DeniedAction } from '../../domain/denial.ts'
import type { Finding } from '../../domain/finding.ts'
import { alertsRequester } from '../../domain/origin.ts'
import type { Group } from '../../domain/policy.ts'
import { channelMention, code, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'
import { whoApproves, whoIsIn } from './approvers.ts'
import { changedRecord, foreignButton, staleCard, unknownRequest } from './refusals.ts'

/** Returns the words for a kind of change that follow *ask for*: `moving an Elastic IP`. */
export type LabelOf = (kind: string) => string

const actionWords: Record<DeniedAction, string> = { read: 'use this bot', request: 'ask for changes', decide: 'decide requests' }

const tryAgain = 'Nothing was done: try again in a minute.'

/** Explains a denial to the person, and says what to do. */
export function denialWords(denial: Denial, labelOf: LabelOf): Mrkdwn {
  switch (denial.code) {
    case 'person-unknown':
      return mrkdwn`Slack did not tell who you are just now, and without that nobody may ${actionWords[denial.action]}. ${tryAgain}`
    case 'guest':
      return mrkdwn`Guests may not ${actionWords[denial.action]}. Ask a full member of this workspace.`
    case 'bot':
      return mrkdwn`Bots may not ${actionWords[denial.action]}.`
    case 'deactivated':
      return mrkdwn`Deactivated accounts may not ${actionWords[denial.action]}.`
    case 'other-workspace':
      return mrkdwn`People of other workspaces may not ${actionWords[denial.action]}. Ask a member of this one.`
    case 'shared-channel':
      return mrkdwn`This channel is shared with another organisation (Slack Connect), and nobody may ${actionWords[denial.action]} in one. Use a channel of this workspace alone.`
    case 'channel-unknown':
      return mrkdwn`Slack did not tell just now whether this channel is shared with another organisation, and without that nobody may ${actionWords[denial.action]} here. ${tryAgain}`
    case 'direct-message':
      return mrkdwn`Changes cannot be asked for in a direct message, because nobody else could approve them there. Ask in a channel.`
    case 'not-in-channel':
      return mrkdwn`I'm not in this channel. Run ${code('/invite @Lockkeeper')}, then try again.`
    case 'foreign-channel':
      return mrkdwn`Slack doesn't list you as a member of this channel. Choose another one.`
    case 'no-rule':
      return mrkdwn`No rule of the policy lets anybody ask for ${labelOf(denial.kind)} in this channel, so it is refused. ${whereElse(denial.channels)}`
    case 'project-unknown':
      return mrkdwn`Whether the rule “${denial.rule}” holds depends on the project, and the account API does not tell it just now. Nothing was asked for: try again in a minute.`
    case 'alerts-not-named':
      return mrkdwn`The rule “${denial.rule}” doesn't let alerts request this. Nothing was requested.`
    case 'alerts-need-approval':
      return mrkdwn`The rule “${denial.rule}” needs no approval, and what alerts request always needs one. Nothing was requested.`
    case 'not-a-requester':
      if (isEmpty(denial.requesters)) return mrkdwn`Only alerts can request this here. Ask the people who run this bot.`
      return mrkdwn`You are not among the people who may ask for this here (${whoIsIn(denial.requesters)}). Ask one of them, or the people who run this bot.`
    case 'not-an-approver':
      return mrkdwn`You are not an approver of this. ${whoApproves(denial.approvers)} can decide it.`
    case 'too-few-approvers':
      return mrkdwn`${tooFew(denial.needed)}: the rule “${denial.rule}” names too few active members of this workspace. Nothing was asked for. The people who run this bot can name more.`
    case 'group-unknown':
      return mrkdwn`Slack did not tell who is in the user group just now, so this cannot be checked. ${tryAgain}`
    case 'own-request':
      return mrkdwn`You asked for this yourself, so another person has to decide it. You can withdraw it.`
    case 'rule-gone':
      return mrkdwn`No rule of the policy says who may decide this any more, so nobody may. It can be withdrawn and asked for again.`
    case 'only-requester-may-issue':
      return mrkdwn`Only ${mention(denial.requester)}, who asked for this, can take it: its secret is for their eyes alone.`
    case 'only-requester-may-withdraw':
      if (denial.requester === alertsRequester)
        return mrkdwn`An alert requested this, so nobody can withdraw it. It ends when the alert resolves, or an approver can reject it.`
      return mrkdwn`Only ${mention(denial.requester)}, who asked for this, can withdraw it. An approver can reject it.`
    case 'only-requester-may-break-glass':
      if (denial.requester === alertsRequester) return mrkdwn`An alert requested this, so nobody can approve it alone.`
      return mrkdwn`Only ${mention(denial.requester)}, who asked for this, can approve it alone.`
    case 'stale-card':
      return staleCard
    case 'foreign-button':
      return foreignButton
    case 'unknown-request':
      return unknownRequest
    case 'changed-record':
      return changedRecord
    case 'unknown-key':
      return mrkdwn`This request was signed with a key that Lockkeeper doesn't have (${code('STATE_KEY')}). Nothing was changed. Request it again, or ask the people who run this bot to restore the key.`
    case 'other-version':
      return mrkdwn`Another version of Lockkeeper made this request. Try again in a few minutes; nothing was changed.`
  }
}

/** Explains a stored denial. Shows the code of a denial that this version does not know. */
export function storedDenialWords(cause: Finding, labelOf: LabelOf): Mrkdwn {
  const { success, data } = Denial.safeParse(cause)
  return success ? denialWords(data, labelOf) : code(cause.code)
}

function isEmpty({ users, userGroups }: Group): boolean {
  return users.length + userGroups.length === 0
}

function whereElse(channels: string[]): Mrkdwn {
  if (channels.length === 0) return mrkdwn`The people who run this bot can add a rule for it.`
  return mrkdwn`Ask in ${joinMrkdwn(channels.map(channelMention), ' or ')}.`
}

function tooFew(needed: number): string {
  if (needed === 1) return 'Nobody else could approve this'
  return `It takes ${needed} approvals of other people, and fewer than that could give one`
}
