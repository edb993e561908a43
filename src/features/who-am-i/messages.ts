import { isForLackOfAnswer } from '../../domain/denial.ts'
import { formatDuration } from '../../domain/duration.ts'
import type { Origin } from '../../domain/origin.ts'
import type { Person } from '../../domain/people.ts'
import { approvalsNeeded, type PolicyRule } from '../../domain/policy.ts'
import type { Ruling } from '../../domain/ruling.ts'
import type { KindRights } from '../../requests/access/rights.ts'
import { whoApproves } from '../../requests/messages/approvers.ts'
import { denialWords, type LabelOf } from '../../requests/messages/denials.ts'
import { grantWords } from '../../requests/messages/grants.ts'
import { capitalised } from '../../slack/text/capitalised.ts'
import { channelMention, code, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'

interface Rights {
  person: Person
  kinds: KindRights[]
}

/** Says kind by kind what somebody may do here, and by which rule. */
export function rightsMessage({ person, kinds }: Rights, { channelId }: Origin, labelOf: LabelOf): Mrkdwn {
  const who = mrkdwn`You are ${mention(person.userId)} (${code(person.userId)}), a full member of this workspace, so you may look at everything. In ${channelMention(channelId)}:`
  return joinMrkdwn([who, ...kinds.map((kind) => kindLine(kind, labelOf))], '\n\n')
}

function kindLine({ kind, request, rules }: KindRights, labelOf: LabelOf): Mrkdwn {
  const title = mrkdwn`*${capitalised(labelOf(kind))}* (${code(kind)})`
  if (rules.length === 0) return joinMrkdwn([title, mrkdwn`:no_entry: ${whyNot(request, labelOf)}`], '\n')
  return joinMrkdwn([title, ...rules.map((each) => ruleLine(each, rules.length > 1, labelOf)), ...elsewhereLine(rules)], '\n')
}

/** Says that projects without a rule are refused. Empty if the last rule is for every project. */
function elsewhereLine(rules: KindRights['rules']): Mrkdwn[] {
  return rules.at(-1)?.rule.projects ? [mrkdwn`:no_entry: In other projects: nobody may ask for it here, because no rule covers them.`] : []
}

function ruleLine({ rule, request, approve }: KindRights['rules'][number], isOneOfMany: boolean, labelOf: LabelOf): Mrkdwn {
  const projects = rule.projects && [...rule.projects.names, ...rule.projects.ids]
  const scope = projects
    ? mrkdwn`In ${projects.length > 1 ? 'the projects' : 'the project'} ${projects.join(', ')}: `
    : isOneOfMany
      ? mrkdwn`Otherwise: `
      : mrkdwn``
  const requesting = request.allowed
    ? mrkdwn`:white_check_mark: ${scope}you may ask for it (${grantWords(request.grant)})`
    : mrkdwn`:no_entry: ${scope}${whyNot(request, labelOf)}`
  return joinMrkdwn([requesting, approvingLine(rule, approve, labelOf)], '\n')
}

function approvingLine(rule: PolicyRule, approve: Ruling, labelOf: LabelOf): Mrkdwn {
  if (!rule.approve) return mrkdwn`:white_check_mark: it needs no approval (${rule.name})`
  const needed = approvalsNeeded(rule.approve)
  const terms = mrkdwn`It takes ${needed === 1 ? 'one approval' : `${needed} approvals`} within ${formatDuration(rule.expiresMs)}${rule.breakGlass ? ', and in an emergency an approver may approve their own (break-glass)' : ''}.`
  if (approve.allowed) return mrkdwn`:white_check_mark: you may approve it for others (${grantWords(approve.grant)}). ${terms}`
  return isForLackOfAnswer(approve.denial)
    ? mrkdwn`:grey_question: whether you may approve it is not known: ${denialWords(approve.denial, labelOf)} ${terms}`
    : mrkdwn`:no_entry: you may not approve it; ${whoApproves(rule.approve)} may. ${terms}`
}

function whyNot(ruling: Ruling, labelOf: LabelOf): Mrkdwn {
  return ruling.allowed ? mrkdwn`` : denialWords(ruling.denial, labelOf)
}
