import { type ApproveTerms, approvalsNeeded, type Group, isUserGroup, type PolicyRule } from '../../domain/policy/policy.ts'
import type { Request } from '../../domain/request/request.ts'
import { type Mrkdwn, mention, mrkdwn, ownWords, userGroupMention } from '../../slack/text/text.ts'

/** Mentions a person or a user group by its id. */
export function mentionOf(id: string): Mrkdwn {
  return isUserGroup(id) ? userGroupMention(id) : mention(id)
}

/** Says who approves under these terms: `@ben or @oncall`, `2 of @ben, @chi or @oncall`, `@network and @security`. */
export function whoApproves(terms: ApproveTerms): Mrkdwn {
  return ownWords(listApprovers(terms, inMarkup))
}

/** More approvers than these are counted in the first lines of a message. */
const mostListed = 4

/** Says the same in few words: counts the approvers if there are many, `2 of 12 approvers`. */
function whoApprovesInShort(terms: ApproveTerms): Mrkdwn {
  return ownWords(listApprovers(terms, inMarkup, mostListed))
}

/** Says in few words who can approve a request. Undefined if nobody can, because no rule covers it anymore. */
export function whoIsAsked({ approverNames }: Pick<Request, 'approverNames'>, rule: PolicyRule | undefined): Mrkdwn | undefined {
  return approverNames === undefined ? rule?.approve && whoApprovesInShort(rule.approve) : mrkdwn`${approverNames}`
}

/** Mentions the approvers whom `whoApprovesInShort` only counts. A rule that mentions other people names them elsewhere. */
export function approversNotListed({ approverNames }: Pick<Request, 'approverNames'>, rule: PolicyRule | undefined): Mrkdwn[] {
  if (approverNames !== undefined || !rule?.approve) return []
  const { users, userGroups } = rule.approve.anyOf
  return users.length + userGroups.length > mostListed ? [mrkdwn`Approvers: ${whoIsIn(rule.approve.anyOf)}`] : []
}

/** Says the same in plain text with names, because a mention would notify people. */
export function namesOfApprovers(terms: ApproveTerms, nameOf: (id: string) => string): string {
  return listApprovers(terms, nameOf)
}

/** Lists a group of people. An empty group gives an empty text. */
export function whoIsIn({ users, userGroups }: Group): Mrkdwn {
  return ownWords(listed([...users, ...userGroups].map(inMarkup), 'and'))
}

function listApprovers(terms: ApproveTerms, show: (id: string) => string, most = Number.POSITIVE_INFINITY): string {
  const anyOf = [...terms.anyOf.users, ...terms.anyOf.userGroups]
  const isLong = anyOf.length > most
  const any = isLong ? `${anyOf.length} approvers` : listed(anyOf.map(show), 'or')
  const all = listed(terms.allOf.map(show), 'and')
  if (all === '') return terms.approvals > 1 || isLong ? `${terms.approvals} of ${any}` : any || 'Nobody'
  const more = approvalsNeeded(terms) - terms.allOf.length
  if (more <= 0 || any === '') return all
  return `${all}, and ${more} more of ${any}`
}

function listed(names: string[], word: 'and' | 'or'): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}` : (names[0] ?? '')
}

function inMarkup(id: string): string {
  return mentionOf(id).text
}
