import { Denial, type DeniedAction } from '../../../domain/approval/denial.ts'
import { alertsRequester } from '../../../domain/approval/origin.ts'
import type { Finding } from '../../../domain/change/finding.ts'
import { type ApproveTerms, approversOf, type Group } from '../../../domain/policy/policy.ts'
import { alternatives, channelMention, code, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import { whoApproves, whoIsIn } from '../approvers.ts'
import { ruleWords } from '../rule-words.ts'
import { notInChannel } from '../words.ts'
import { changedRecord, foreignButton, staleCard, unknownRequest } from './refusals.ts'

/** Returns the words for a kind of change that follow *allows*: `moving an Elastic IP`. */
export type LabelOf = (kind: string) => string

const actionWords: Record<DeniedAction, string> = {
  read: 'use Lockkeeper',
  request: 'request changes',
  decide: 'approve or reject requests',
}

const tryAgain = 'Nothing was done. Try again in a minute.'

/** Explains a denial to the person, and says what to do. `command`: the slash command, if it is known. */
export function denialWords(denial: Denial, labelOf: LabelOf, command = ''): Mrkdwn {
  switch (denial.code) {
    case 'person-unknown':
      return mrkdwn`Slack didn't confirm who you are, so you can't ${actionWords[denial.action]} right now. ${tryAgain}`
    case 'guest':
      return mrkdwn`Guests can't ${actionWords[denial.action]}. Ask a teammate who is a full member of this workspace to do it for you.`
    case 'bot':
      return mrkdwn`Bots can't ${actionWords[denial.action]}.`
    case 'deactivated':
      return mrkdwn`Deactivated accounts can't ${actionWords[denial.action]}.`
    case 'other-workspace':
      return mrkdwn`People from other workspaces can't ${actionWords[denial.action]}. Ask a member of this one.`
    case 'shared-channel':
      return mrkdwn`Nobody can ${actionWords[denial.action]} here: this channel is shared with another organization (Slack Connect). Use a channel that isn't shared.`
    case 'channel-unknown':
      return mrkdwn`Slack didn't confirm whether this channel is shared with another organization. Until then, nobody can ${actionWords[denial.action]} here. ${tryAgain}`
    case 'direct-message':
      return mrkdwn`You can't request changes in a direct message, because nobody else could approve them. Use a channel.`
    case 'not-in-channel':
      return notInChannel
    case 'foreign-channel':
      return mrkdwn`Slack doesn't list you as a member of this channel. Use another one.`
    case 'no-rule':
      return mrkdwn`No policy rule allows ${labelOf(denial.kind)} in this channel. ${whereElse(denial.channels)}`
    case 'project-unknown':
      return mrkdwn`Couldn't read the project from the account API, and the ${ruleWords(denial.rule)} depends on it. Nothing was requested. Try again in a minute.`
    case 'alerts-not-named':
      return mrkdwn`The ${ruleWords(denial.rule)} doesn't let alerts request this. Nothing was requested.`
    case 'alerts-need-approval':
      return mrkdwn`The ${ruleWords(denial.rule)} needs no approval, and what alerts request always needs one. Nothing was requested.`
    case 'not-a-requester':
      if (isEmpty(denial.requesters)) return mrkdwn`Only alerts can request this here. Ask the people who run Lockkeeper.`
      return mrkdwn`You can't request this here. These requesters can: ${whoIsIn(denial.requesters)}. Ask one of them, or the people who run Lockkeeper.`
    case 'not-an-approver':
      return mrkdwn`You aren't an approver of this request. ${whoApproves(denial.approvers)} can approve or reject it.`
    case 'not-involved':
      return mrkdwn`Only ${whoIsInvolved(denial)} can stop the tracking or start it again.`
    case 'only-involved-may-withdraw':
      return mrkdwn`Only ${whoIsInvolved(denial)} can withdraw it.`
    case 'too-few-approvers':
      return mrkdwn`Not enough approvers: ${ruleWords(denial.rule)} needs ${denial.needed}${denial.requester === undefined ? ' besides you' : ''}. Nothing was requested. The people who run Lockkeeper can add active members to the rule.`
    case 'group-unknown':
      return mrkdwn`Slack didn't return the members of the user group, so this couldn't be checked. ${tryAgain}`
    case 'own-request':
      return mrkdwn`You requested this, so someone else must approve or reject it. To cancel it, press *Withdraw*.`
    case 'rule-gone':
      return mrkdwn`No policy rule covers this request anymore, so nobody can approve it. The requester can withdraw it and request it again.`
    case 'only-requester-may-issue':
      return mrkdwn`Only ${mention(denial.requester)}, who requested this token, can create it.`
    case 'only-requester-may-withdraw':
      return mrkdwn`Only ${mention(denial.requester)}, who requested this, can withdraw it. An approver can reject it.`
    case 'only-requester-may-break-glass':
      if (denial.requester === alertsRequester) return mrkdwn`An alert requested this, so nobody can approve it alone.`
      return mrkdwn`Only ${mention(denial.requester)}, who requested this, can approve it alone.`
    case 'stale-card':
      return staleCard
    case 'foreign-button':
      return foreignButton
    case 'unknown-request':
      return unknownRequest(command)
    case 'changed-record':
      return changedRecord
    case 'unknown-key':
      return mrkdwn`This request was signed with a key that Lockkeeper doesn't have (${code('STATE_KEY')}). Nothing was changed. Request it again, or ask the people who run Lockkeeper to restore the key.`
    case 'other-version':
      return mrkdwn`Another version of Lockkeeper made this request. Nothing was changed. Try again in a few minutes.`
  }
}

/** Names the requester and the approvers of a request. */
function whoIsInvolved({ requester, approvers }: { requester: string; approvers: ApproveTerms }): Mrkdwn {
  const person = requester === alertsRequester ? mrkdwn`` : mrkdwn`${mention(requester)}, who requested this, and `
  return mrkdwn`${person}its approvers (${whoIsIn(approversOf(approvers))})`
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
  if (channels.length === 0) return mrkdwn`The people who run Lockkeeper can add one.`
  return mrkdwn`Request it in ${alternatives(channels.map(channelMention))}.`
}
