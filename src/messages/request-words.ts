import type { Grant } from '../domain/approval.ts'
import type { ApiError } from '../domain/errors.ts'
import { type ApproveTerms, approvalsNeeded, eachOf, type Group, isSetting, isUserGroup, type PolicyRule } from '../domain/policy.ts'
import { isOpen, type Passed, type Request, type SourceAlert, type StoredState, type Waits } from '../domain/request.ts'
import { ownFreezeName } from '../domain/starts.ts'
import { formatDuration, type Phrase, withoutOwner } from '../domain/text.ts'
import { type AccountLimit, limitWords } from '../slack/errors.ts'
import {
  boldPhrase,
  capitalised,
  code,
  dayAndTime,
  link,
  type Mrkdwn,
  mention,
  mrkdwn,
  nameWords,
  outsideLink,
  ownWords,
  userGroupMention,
} from '../slack/text.ts'

/** The words for each state. Most kinds of change replace *in progress* with their own word (`moving`). */
const names: Record<StoredState, string> = {
  waiting: 'waiting for approval',
  approved: 'approved',
  starting: 'starting',
  tracking: 'in progress',
  done: 'done',
  failed: 'failed',
  'not-started': 'not started',
  superseded: 'superseded',
  untracked: 'no longer tracked',
  voided: 'canceled',
  rejected: 'rejected',
  withdrawn: 'withdrawn',
  expired: 'expired',
  unknown: "in a state that this version of Lockkeeper doesn't know",
}

type State = Pick<Request, 'state'> & { unansweredSince?: number | undefined }

/** Whether it may have ended, because the account API has not answered since it was sent. */
export function isUnseen({ state, unansweredSince }: State): boolean {
  return unansweredSince !== undefined && isOpen(state)
}

export function stateWords(request: State, underway?: string): string {
  if (isUnseen(request)) return 'status unknown'
  return request.state === 'tracking' && underway ? underway : names[request.state]
}

/** The emoji of each end, and of what is not quite one. */
export const endMarks: Record<Exclude<StoredState, 'waiting' | 'approved' | 'starting' | 'tracking' | 'unknown'> | 'partly', string> = {
  done: ':large_green_circle:',
  partly: ':large_orange_circle:',
  failed: ':red_circle:',
  'not-started': ':red_circle:',
  superseded: ':large_orange_circle:',
  untracked: ':large_orange_circle:',
  voided: ':large_orange_circle:',
  rejected: ':no_entry:',
  withdrawn: ':leftwards_arrow_with_hook:',
  expired: ':alarm_clock:',
}

/** Says how long a change took, from the write to its end or to `now`: `43 s`, `less than a second`. Times in ms since 1970. */
export function timeTaken(request: Request, now: number = request.endedAt ?? Date.now()): string {
  return span(now - (request.sentAt ?? request.createdAt))
}

export function timeApproved(request: Request, now: number): string {
  return span(now - (request.decidedAt ?? request.createdAt))
}

export function span(ms: number): string {
  return ms < 1_000 ? 'less than a second' : formatDuration(ms)
}

/** `took 18 s`. Undefined for a change that was never sent, took less than a second, or whose end is not known exactly. */
export function timeTakenWords(request: Request): string | undefined {
  const { sentAt, endedAt } = request
  if (sentAt === undefined || endedAt === undefined) return undefined
  const tookMs = endedAt - sentAt
  return tookMs < 1_000 || mayHaveEndedBefore(request) ? undefined : `took ${span(tookMs)}`
}

/** Whether only the latest possible end is known: it was not tracked, or the account API did not answer, when the change ended. */
export function mayHaveEndedBefore(request: Request): boolean {
  return request.untrackedMs !== undefined || request.unansweredSince !== undefined
}

/** Shortens the id of a request, so that people can read it out. Buttons and the log have the whole id. */
export function shortId(request: Pick<Request, 'id'>): string {
  return request.id.slice(0, 8)
}

export const notInChannel = mrkdwn`I'm not in this channel. Run ${code('/invite @Lockkeeper')}, then try again.`

export function refusedCard(error: string): Mrkdwn {
  if (error === 'not_in_channel' || error === 'channel_not_found') return notInChannel
  return mrkdwn`Slack refused the request message (${error}), so nothing was requested. Use another channel, or tell Lockkeeper's operators.`
}

export function refusedKey({ status, operation }: ApiError): Mrkdwn {
  if (status === 403)
    return mrkdwn`:warning: The account API doesn't let Lockkeeper's API key do this (${status}, ${operation}). The key may be read-only, or limited to other addresses. Requests that need it fail until ${code('INFRA_API_KEY')} has the right. Everything else works.`
  return mrkdwn`:warning: The account API rejects Lockkeeper's API key (${status}, ${operation}). Nothing can be sent or tracked until ${code('INFRA_API_KEY')} is valid again. Lockkeeper then resumes tracking accepted moves. Requests that are approved but not sent within 30 minutes must be requested again.`
}

/** Names an alert, and links it: `Alert NodeDown, open it (prometheus:9090)`. */
export function alertWords({ name, link }: SourceAlert): Mrkdwn {
  const linked = outsideLink(link, 'open it')
  return linked ? mrkdwn`Alert ${nameWords(name)}, ${linked}` : mrkdwn`Alert ${nameWords(name)}`
}

function mentionOf(id: string): Mrkdwn {
  return isUserGroup(id) ? userGroupMention(id) : mention(id)
}

/** Says who approves under these terms: `@ben or @oncall`, `2 people among @ben, @chi and @oncall`, `@network and @security`. */
export function whoApproves(terms: ApproveTerms): Mrkdwn {
  return ownWords(namesOfApprovers(terms, inMarkup))
}

export function whoIsAsked({ approverNames }: Pick<Request, 'approverNames'>, rule: PolicyRule | undefined): Mrkdwn | undefined {
  return approverNames === undefined ? rule?.approve && whoApproves(rule.approve) : mrkdwn`${approverNames}`
}

/** Says the same in plain text with names, because a mention would notify people. Under several rules, the approvers of each. */
export function namesOfApprovers(terms: ApproveTerms, nameOf: (id: string) => string): string {
  const each = eachOf(terms).map((own) => listTerms(own, nameOf))
  return [...new Set(each)].join(', and also ')
}

function listTerms(terms: ApproveTerms, nameOf: (id: string) => string): string {
  const any = (word: 'and' | 'or') => listed([...terms.anyOf.users, ...terms.anyOf.userGroups].map(nameOf), word)
  const all = listed(terms.allOf.map(nameOf), 'and')
  if (all === '') return terms.approvals > 1 ? `${terms.approvals} people among ${any('and')}` : any('or') || 'Nobody'
  const more = approvalsNeeded(terms) - terms.allOf.length
  return more <= 0 || any('or') === '' ? all : `${all}, and ${more} more among ${any('and')}`
}

export function approvedBy({ approvals, decision }: Pick<Request, 'approvals' | 'decision'>): string[] {
  return [...new Set(approvals.length > 0 ? approvals.map(({ by }) => by) : [decision?.by ?? ''])]
}

/** `standing`: the approvals that can count. Of those from before the rule asked for a confirmation, none can. */
export function countApprovals({ approvals, missing }: Pick<Request, 'approvals' | 'missing'>, rule: PolicyRule | undefined) {
  const needed = rule?.approve ? approvalsNeeded(rule.approve) : 1
  const standing = approvals.filter((each) => rule?.confirmBy === undefined || each.confirmed !== undefined)
  return { needed, standing, counted: Math.min(standing.length, missing === undefined ? approvals.length : needed - missing) }
}

/** ` (1 of 2)`. Empty while nobody has approved it. */
export function approvedSoFar(request: Pick<Request, 'approvals' | 'missing'>, rule: PolicyRule | undefined): Mrkdwn {
  const { needed, counted } = countApprovals(request, rule)
  return mrkdwn`${request.approvals.length > 0 ? ` (${counted} of ${needed})` : ''}`
}

/** The approvals that pass windows and freezes. */
export function emergenciesIn({ approvals }: Pick<Request, 'approvals'>): Request['approvals'] {
  return approvals.filter(({ emergency }) => emergency)
}

/** The reason of an emergency approval, or those of several. Undefined if there is none. */
export function emergencyReason({ approvals, decision }: Pick<Request, 'approvals' | 'decision'>): string | undefined {
  if (decision?.breakGlass) return decision.reason ?? 'none given'
  const reasons = emergenciesIn({ approvals }).map(({ reason = 'none given' }) => reason)
  return reasons.length === 0 ? undefined : reasons.join(' / ')
}

export function whoIsIn({ users, userGroups }: Group, word: 'and' | 'or' = 'and'): Mrkdwn {
  return ownWords(listed([...users, ...userGroups].map(inMarkup), word))
}

export function listed(names: string[], word: 'and' | 'or'): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}` : (names[0] ?? '')
}

function inMarkup(id: string): string {
  return mentionOf(id).text
}

/** Names the rule that decided: `rule “production”`. Without a policy file it is a setting: `` setting `APPROVERS` ``. */
export function ruleWords(name: string): Mrkdwn {
  return isSetting(name) ? mrkdwn`setting ${code(name)}` : mrkdwn`rule “${name}”`
}

/** Says which rule allowed an action, and via which person or group: `rule “production”: @oncall`. */
export function grantWords({ rule, via }: Grant): Mrkdwn {
  // The setting APPROVERS does not say who may request.
  return rule === undefined || (isSetting(rule) && via === 'member') ? viaWords(via) : mrkdwn`${ruleWords(rule)}: ${viaWords(via)}`
}

function viaWords(via: string): Mrkdwn {
  switch (via) {
    case 'member':
      return mrkdwn`every full member can request`
    case 'alerts':
      return mrkdwn`alerts can request`
    case 'requester':
      return mrkdwn`the requester`
    case 'no-approval':
      return mrkdwn`no approval needed`
    default:
      return mentionOf(via)
  }
}

export const tookTooLong = mrkdwn`This took too long, so I'm deleting the key. Don't use it. The thread will say when it's deleted and what to do next.`

export const notRecorded = mrkdwn`Lockkeeper's database (Redis) isn't responding, so it may not be recorded that you saw this key. If it isn't, the key will be deleted. Don't use it unless the thread says *Done*.`

export const notConfirmed = mrkdwn`The account API hasn't confirmed this. If the key was created or rotated, I'll delete it and post in the thread.`

export const nothingMade = 'Nothing was created.'

/** Says what keeps an approved request from starting. */
export function heldWords(waits: Waits): Mrkdwn {
  return mrkdwn`${ownWords(capitalised(heldBriefly(waits).text))}.`
}

/** The same as a part of a line: `starts 10:00 PM today`. */
export function heldBriefly(waits: Waits): Mrkdwn {
  const { for: what, until } = waits
  const at = until && dayAndTime(until)
  const ifLifted = waits.ifLifted ? ', if the freeze is lifted by then' : ''
  switch (what) {
    case 'window':
      return mrkdwn`starts when ${holderOf(waits)} opens${at ? mrkdwn`, ${at}` : ''}${ifLifted}`
    case 'freeze':
      if (waits.from !== undefined && at) return mrkdwn`starts ${at}, after ${holderOf(waits)} planned from ${dayAndTime(waits.from)}`
      return mrkdwn`held by ${holderOf(waits)}${at ? mrkdwn`, until ${at}` : ' until lifted'}`
    default:
      return mrkdwn`starts ${at ?? ''}${ifLifted}`
  }
}

/** The start that its requester asked for, on a line of its own where something else holds it. Empty without one, and where the words name it. */
export function requestedStart(held: Waits, start: number | undefined): Mrkdwn {
  return start === undefined || held.for === 'start' ? mrkdwn`` : mrkdwn`\nRequested start: ${dayAndTime(start)}.`
}

/** Names what holds a request: `the window “office”`. */
function holderOf({ for: what, name = '' }: Waits): Mrkdwn {
  if (what === 'window') return mrkdwn`the window “${name}”`
  return name === ownFreezeName ? mrkdwn`a freeze` : mrkdwn`the freeze “${name}”`
}

/** `, past the window “office” and a freeze`. Empty if nothing was passed. */
export function pastWords(passed: Passed[] = []): Mrkdwn {
  const names = passed.map(({ by, name }) => holderOf({ for: by, name }).text)
  return mrkdwn`${names.length === 0 ? '' : ownWords(`, past ${listed(names, 'and')}`)}`
}

/** `Overrides the window “office” (opens 9:00 AM today) and @Ben's freeze (until lifted).` Empty if nothing is passed. `frozenBy`: whose a freeze is, by its id. */
export function passesWords(passed: Passed[], frozenBy: (id: string | undefined) => string | undefined): Mrkdwn {
  const each = passed.map(({ by, name, id, until }) => {
    const person = frozenBy(id)
    const holder = person !== undefined ? mrkdwn`${mention(person)}'s freeze` : holderOf({ for: by, name })
    if (until === undefined) return (by === 'freeze' ? mrkdwn`${holder} (until lifted)` : holder).text
    return mrkdwn`${holder} (${by === 'freeze' ? 'ends' : 'opens'} ${dayAndTime(until)})`.text
  })
  return mrkdwn`${each.length === 0 ? '' : ownWords(`Overrides ${listed(each, 'and')}. `)}`
}

export function pressAgain(limit: AccountLimit): Mrkdwn {
  return mrkdwn`${limitWords(limit).why} ${nothingMade} Press again in ${formatDuration(Math.max(1_000, limit.waitMs))}.`
}

export function notReadBefore(waitMs: number): Mrkdwn {
  return mrkdwn`The account couldn't be read for your last press. Nothing was created. Press again in ${formatDuration(Math.max(1_000, waitMs))}.`
}

export interface LinkedRequest {
  id: string
  link?: string | undefined
}

export function relatedWords({ undoes, repeats }: { undoes?: LinkedRequest; repeats?: LinkedRequest }): Mrkdwn[] {
  return [...(undoes ? [mrkdwn`Undoes ${requestLink(undoes)}`] : []), ...(repeats ? [mrkdwn`Repeats ${requestLink(repeats)}`] : [])]
}

/** Names what an answer is about: `*Move 203.0.113.10: web-1 → web-2*  ·  request 80fbcd61`. For whom a key is would mention that person. */
export function subjectWords(title: Phrase, request: LinkedRequest): Mrkdwn {
  return mrkdwn`${boldPhrase(withoutOwner(title))}  ·  ${requestLink(request)}`
}

/** `request 80fbcd61`, as a link to its message. */
export function requestLink({ id, link: address }: LinkedRequest): Mrkdwn {
  return link(address, `request ${shortId({ id })}`)
}
