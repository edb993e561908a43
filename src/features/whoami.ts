import { isForLackOfAnswer, type Origin, type Ruling } from '../domain/approval.ts'
import { whenOpen } from '../domain/hours.ts'
import { approvalsNeeded, type PolicyRule } from '../domain/policy.ts'
import { formatDuration } from '../domain/text.ts'
import { listFeature } from '../kit/list.ts'
import { grantWords, ruleWords, whoApproves } from '../messages/request-words.ts'
import { denialWords, type LabelOf } from '../messages/why-not.ts'
import { type KindRights, type Rights, rightsOf } from '../rights/judge.ts'
import type { Listing } from '../slack/listing.ts'
import { type Columns, itemRows } from '../slack/table.ts'
import { capitalised, channelMention, code, type Mrkdwn, mention, mrkdwn } from '../slack/text.ts'

interface Answer {
  answer: string
  why: Mrkdwn | undefined
}

/** The right of a person for one kind of change, in all projects or in some. */
interface Right {
  /** `Moving an Elastic IP (Storefront)`. Without a project in it, all projects are meant. */
  change: string
  kind: string
  requesting: Answer
  approving: Answer | undefined
  terms: string | undefined
  starts: string | undefined
}

/** A narrow screen shows the first columns only, so the answers come before the reasons. */
const columns: Columns<Right> = [
  { header: 'Change', cell: ({ change }) => change },
  { header: 'Request', cell: ({ requesting }) => requesting.answer },
  { header: 'Approve', cell: ({ approving }) => approving?.answer },
  { header: 'Right to request', cell: ({ requesting }) => requesting.why },
  { header: 'Right to approve', cell: ({ approving }) => approving?.why },
  { header: 'Approvals', cell: ({ terms }) => terms },
  { header: 'Starts', cell: ({ starts }) => starts },
  { header: 'Kind', cell: ({ kind }) => kind },
]

export function rightsListing({ person, kinds, hasBot }: Rights, { channelId }: Origin, labelOf: LabelOf): Listing {
  const channel = channelMention(channelId)
  const notInvited = mrkdwn`:warning: Lockkeeper isn't in ${channel}. Nothing can be requested here until somebody runs ${code('/invite @Lockkeeper')}.`
  return {
    title: mrkdwn`What you may request and approve here`,
    ...itemRows(together(kinds.flatMap((rights) => rightsIn(rights, labelOf))), { columns }),
    empty: mrkdwn`Nothing can be requested here.`,
    notes: [
      // Where nobody may request anything, it makes no difference.
      ...(hasBot === false && kinds.some(({ request }) => request.allowed) ? [notInvited] : []),
      mrkdwn`You are ${mention(person.userId)} (${code(person.userId)}). As a full member of this workspace, you can use every list. These are your rights in ${channel}.`,
    ],
  }
}

/** One row for all changes of which everything else is equal. */
function together(rights: Right[]): Right[] {
  const groups = Map.groupBy(rights, ({ change: _, kind: __, ...others }) => JSON.stringify(others))
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (!first) return []
    const all = [first, ...others]
    return [{ ...first, change: capitalised(all.map(({ change }) => change).join(', ')), kind: all.map(({ kind }) => kind).join(', ') }]
  })
}

function rightsIn({ kind, request, rules }: KindRights, labelOf: LabelOf): Right[] {
  const change = labelOf(kind)
  const common = { change, kind, approving: undefined, terms: undefined, starts: undefined }
  if (rules.length === 0) return [{ ...common, requesting: requestingWords(request, labelOf) }]
  const others = `${change} (all other projects)`
  const rights = rules.map(({ rule, request: ruling, approve }) => ({
    ...common,
    change: rule.projects ? `${change} (${[...rule.projects.names, ...rule.projects.ids].join(', ')})` : rules.length > 1 ? others : change,
    requesting: requestingWords(ruling, labelOf),
    approving: approvingWords(rule, approve, labelOf),
    terms: termsOf(rule, { mayApprove: approve.allowed }),
    starts: rule.windows.map(whenOpen).join(' and ') || undefined,
  }))
  const uncovered = { ...common, change: others, requesting: { answer: 'no', why: mrkdwn`No rule covers them.` } }
  return rules.at(-1)?.rule.projects ? [...rights, uncovered] : rights
}

function requestingWords(ruling: Ruling, labelOf: LabelOf): Answer {
  return ruling.allowed ? { answer: 'yes', why: grantWords(ruling.grant) } : { answer: 'no', why: denialWords(ruling.denial, labelOf) }
}

function approvingWords(rule: PolicyRule, ruling: Ruling, labelOf: LabelOf): Answer {
  if (!rule.approve) return { answer: 'not needed', why: ruleWords(rule.name) }
  if (ruling.allowed) return { answer: 'yes', why: mrkdwn`requests of others, ${grantWords(ruling.grant)}` }
  return isForLackOfAnswer(ruling.denial)
    ? { answer: 'unknown', why: denialWords(ruling.denial, labelOf) }
    : { answer: 'no', why: mrkdwn`${whoApproves(rule.approve)} can` }
}

function termsOf({ approve, expiresMs, breakGlass, emergency }: PolicyRule, { mayApprove }: { mayApprove: boolean }): string | undefined {
  if (!approve) return undefined
  const needed = approvalsNeeded(approve)
  const alone = mayApprove ? 'press Approve on your own request' : 'approvers can approve their own requests'
  const urgent = [
    ...(breakGlass ? [alone] : []),
    ...(emergency ? [`${mayApprove ? 'your approval of requests of others' : 'an approval'} can pass windows and freezes`] : []),
  ]
  const inEmergency = urgent.length === 0 ? '' : `. In an emergency, ${urgent.join(', and ')}`
  return `${needed} within ${formatDuration(expiresMs)}${inEmergency}`
}

export const whoAmI = listFeature({
  words: 'whoami',
  group: 'You',
  summary: 'What you may request and approve here, and by which rule',
  list: async (app, { slashCommand: { origin } }) => rightsListing(await rightsOf(app, origin), origin, app.catalog.labelOf),
})
