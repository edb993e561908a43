import { type Person, type Ruling, whoApproves } from '../../domain/approval.ts'
import { kindWords } from '../../domain/change-kind.ts'
import { formatDuration } from '../../domain/duration.ts'
import type { Origin } from '../../domain/origin.ts'
import { approvalsNeeded, type PolicyRule } from '../../domain/policy.ts'
import type { KindRights } from '../../requests/lifecycle/access.ts'
import { capitalised } from '../../slack/text/capitalised.ts'
import { code, joinMrkdwn, type Mrkdwn, mention, mrkdwn, ownWords } from '../../slack/text/text.ts'

/** Kind by kind, what somebody may do here and why. Pure. */
export function rightsMessage({ person, kinds }: { person: Person; kinds: KindRights[] }, { channelId }: Origin): Mrkdwn {
  const who = mrkdwn`You are ${mention(person.userId)} (${code(person.userId)}), a full member of this workspace, so you may look at everything. In <#${channelId}>:`
  return joinMrkdwn([who, ...kinds.map(kindLine)], '\n\n')
}

function kindLine({ kind, ask, rules }: KindRights): Mrkdwn {
  const title = mrkdwn`*${capitalised(kindWords[kind])}* (${code(kind)})`
  if (rules.length === 0) return joinMrkdwn([title, mrkdwn`:no_entry: ${whyNot(ask)}`], '\n')
  return joinMrkdwn([title, ...rules.map((each) => ruleLine(each, rules.length > 1))], '\n')
}

function ruleLine({ rule, ask, approve }: KindRights['rules'][number], isOneOfMany: boolean): Mrkdwn {
  const scope = rule.projects
    ? mrkdwn`In ${rule.projects.length > 1 ? 'the projects' : 'the project'} ${rule.projects.join(', ')}: `
    : isOneOfMany
      ? mrkdwn`Otherwise: `
      : mrkdwn``
  const asking = ask.allowed
    ? mrkdwn`:white_check_mark: ${scope}you may ask for it (${ownWords(withMentions(ask.rule))})`
    : mrkdwn`:no_entry: ${scope}${whyNot(ask)}`
  return joinMrkdwn([asking, approvingLine(rule, approve)], '\n')
}

function approvingLine(rule: PolicyRule, approve: Ruling): Mrkdwn {
  if (!rule.approve) return mrkdwn`:white_check_mark: it needs no approval (${rule.name})`
  const needed = approvalsNeeded(rule.approve)
  const terms = mrkdwn`It takes ${needed === 1 ? 'one approval' : `${needed} approvals`} within ${formatDuration(rule.expiresMs)}${rule.breakGlass ? ', and in an emergency an approver may approve their own (break-glass)' : ''}.`
  if (!approve.allowed && approve.unknown)
    return mrkdwn`:grey_question: whether you may approve it is not known: ${ownWords(approve.why)} ${terms}`
  return approve.allowed
    ? mrkdwn`:white_check_mark: you may approve it for others (${ownWords(withMentions(approve.rule))}). ${terms}`
    : mrkdwn`:no_entry: you may not approve it; ${ownWords(whoApproves(rule.approve))} may. ${terms}`
}

function whyNot(ruling: Ruling): Mrkdwn {
  return ruling.allowed ? mrkdwn`` : ownWords(ruling.why)
}

/** The ids in a rule's name, as Slack shows them. */
function withMentions(rule: string): string {
  const [, name = rule, id] = /^(.*): ([UWS][A-Z0-9]{2,})$/.exec(rule) ?? []
  if (id === undefined) return escapedName(rule)
  return `${escapedName(name)}: ${id.startsWith('S') ? `<!subteam^${id}>` : `<@${id}>`}`
}

function escapedName(name: string): string {
  return mrkdwn`${name}`.text
}
