import type { App } from '../app.ts'
import { isForLackOfAnswer, type Origin, type Ruling } from '../domain/approval.ts'
import { whenOpen } from '../domain/hours.ts'
import { approvalsNeeded, type PolicyRule } from '../domain/policy.ts'
import { formatDuration } from '../domain/text.ts'
import { listFeature } from '../kit/list.ts'
import { ruleWords, whoApproves } from '../messages/request-words.ts'
import { denialWords, type LabelOf, lackWords } from '../messages/why-not.ts'
import { ableToConfirm } from '../rights/confirmation.ts'
import { type KindRights, type Rights, rightsOf } from '../rights/judge.ts'
import type { Listing } from '../slack/listing.ts'
import { capitalised, channelMention, code, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../slack/text.ts'

/** The right of a person for one kind of change, in all projects or in some. */
interface Right {
  kind: string
  /** `moving an Elastic IP (Storefront)`. Without a project in it, all projects are meant. */
  change: string
  mayRequest: boolean
  /** Undefined if no approval is needed. */
  mayApprove: boolean | undefined
  facts: Mrkdwn[]
}

/** Two sentences, and a row for all changes of which everything else is equal. */
export function rightsListing({ person, kinds, hasBot }: Rights, { channelId }: Origin, labelOf: LabelOf): Listing {
  const channel = channelMention(channelId)
  const notInvited = mrkdwn`:warning: Lockkeeper isn't in ${channel}. Nothing can be requested here until somebody runs ${code('/invite @Lockkeeper')}.`
  const rights = kinds.flatMap((each) => rightsIn(each, labelOf))
  const request = changesIn(rights, labelOf, ({ mayRequest }) => mayRequest)
  const approve = changesIn(rights, labelOf, ({ mayApprove }) => mayApprove)
  // Where nobody may request anything, it makes no difference.
  const isMissed = hasBot === false && kinds.some(({ request: { allowed } }) => allowed)
  const where = isMissed ? mrkdwn`Once Lockkeeper is in ${channel},` : mrkdwn`In ${channel}`
  const groups = Map.groupBy(rights, ({ facts }) => JSON.stringify(facts))
  return {
    title: mrkdwn`You are ${mention(person.userId)} (${code(person.userId)}). ${where} you can request ${request}, and approve ${approve}.`,
    rows: [...groups.values()].map((equal) => {
      const changes = capitalised(equal.map(({ change }) => change).join(', '))
      return mrkdwn`*${changes}*\n${joinMrkdwn(equal[0]?.facts ?? [], '  ·  ')}`
    }),
    empty: mrkdwn`Nothing can be requested here.`,
    notes: isMissed ? [notInvited] : [],
  }
}

/** `every change`, `nothing`, or their labels. `may`: undefined for a right that does not count. */
function changesIn(rights: Right[], labelOf: LabelOf, may: (right: Right) => boolean | undefined): string {
  const counted = rights.filter((right) => may(right) !== undefined)
  const allowed = counted.filter(may)
  if (allowed.length === 0) return 'nothing'
  if (allowed.length === counted.length) return 'every change'
  const isWhole = (kind: string) => counted.every((right) => right.kind !== kind || may(right))
  const labels = allowed.map(({ kind }) => (isWhole(kind) ? labelOf(kind) : `${labelOf(kind)} in some projects`))
  return [...new Set(labels)].join(', ')
}

function rightsIn({ kind, request, rules }: KindRights, labelOf: LabelOf): Right[] {
  const change = labelOf(kind)
  const others = `${change} (all other projects)`
  const none = (words: Mrkdwn, of = change): Right => ({ kind, change: of, mayRequest: false, mayApprove: false, facts: [words] })
  if (rules.length === 0) return [none(whyNot(request))]
  const rights = rules.map(({ rule, request: ruling, approve }): Right => {
    const { projects, windows } = rule
    const which = projects ? `${change} (${[...projects.names, ...projects.ids].join(', ')})` : rules.length > 1 ? others : change
    const mayApprove = rule.approve && approve.allowed
    const can = [...(ruling.allowed ? ['request'] : []), ...(mayApprove ? ['approve'] : [])].join(' and ')
    const facts = [
      mrkdwn`${can === '' ? 'Nothing' : capitalised(can)}, by ${ruleWords(rule.name)}`,
      ...(ruling.allowed ? [] : [whyNot(ruling)]),
      ...approvers(rule, approve),
      ...(windows.length > 0 ? [mrkdwn`Starts ${windows.map(whenOpen).join(' and ')}`] : []),
    ]
    return { kind, change: which, mayRequest: ruling.allowed, mayApprove, facts }
  })
  return rules.at(-1)?.rule.projects ? [...rights, none(mrkdwn`No rule covers them.`, others)] : rights
}

/** Equal for all changes, so that they share a row. */
function whyNot(ruling: Ruling): Mrkdwn {
  return ruling.allowed ? mrkdwn`` : denialWords(ruling.denial, () => 'this')
}

/** How many approvals it needs, or who gives them, if this person can't. */
function approvers({ approve, expiresMs, breakGlass, emergency, confirmBy }: PolicyRule, ruling: Ruling): Mrkdwn[] {
  if (!approve) return [mrkdwn`No approval needed`]
  const needed = approvalsNeeded(approve)
  const own = ruling.allowed ? 'press Approve on your own request' : 'approvers can approve their own requests'
  const given = ruling.allowed ? 'your approval of requests of others' : 'an approval'
  const urgent = [
    ...(breakGlass ? [`${own}, also past windows and freezes`] : []),
    ...(emergency ? [`${given} can pass windows and freezes${breakGlass ? ', too' : ''}`] : []),
  ]
  const how = `${confirmBy ? ` with a ${confirmBy}` : ''} within ${formatDuration(expiresMs)}`
  const isUnsure = !ruling.allowed && isForLackOfAnswer(ruling.denial)
  return [
    ...(isUnsure ? [whyNot(ruling)] : []),
    mrkdwn`${ruling.allowed || isUnsure ? mrkdwn`${needed} ${needed === 1 ? 'approval' : 'approvals'}` : mrkdwn`Needs approval from ${whoApproves(approve)}`}${how}`,
    ...(urgent.length > 0 ? [mrkdwn`In an emergency, ${urgent.join(', and ')}`] : []),
  ]
}

/** What they lack to approve under the rules that let them. */
async function missing(app: App, { kinds }: Rights, { userId, command }: Origin): Promise<Mrkdwn[]> {
  const rules = new Map(
    kinds.flatMap(({ rules }) => rules.flatMap(({ rule, approve }) => (rule.approve && approve.allowed ? [[rule.name, rule]] : []))),
  )
  const asking = [...rules.values()].filter(({ confirmBy }) => confirmBy !== undefined)
  const [first] = asking
  if (!first || (await ableToConfirm(app, first, [userId])).has(userId)) return []
  const names = asking.map(({ name }) => name)
  return [mrkdwn`:warning: ${lackWords(names, names.length === rules.size, first.confirmBy ?? '', command)}`]
}

export const whoAmI = listFeature({
  words: 'whoami',
  group: 'You',
  summary: 'What you may request and approve here, and by which rule',
  async list(app, { slashCommand: { origin } }) {
    const rights = await rightsOf(app, origin)
    const listing = rightsListing(rights, origin, app.catalog.labelOf)
    return { ...listing, title: joinMrkdwn([listing.title, ...(await missing(app, rights, origin))], ' ') }
  },
})
