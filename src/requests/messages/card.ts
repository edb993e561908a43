import type { Button, KnownBlock } from '@slack/web-api'
import type { Description, Fact } from '../../domain/change.ts'
import type { Words } from '../../domain/finding.ts'
import { approvalsNeeded, type PolicyRule } from '../../domain/policy.ts'
import type { Request } from '../../domain/request.ts'
import { actions, type ButtonParts, button, context, fields, header, plainSection, wholeSection } from '../../slack/blocks/blocks.ts'
import { message } from '../../slack/blocks/message.ts'
import { capitalised } from '../../slack/text/capitalised.ts'
import { charactersIn, mostCharacters } from '../../slack/text/characters.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'
import { whoApproves, whoIsIn } from './approvers.ts'
import { buttonValue, type CardButton, cardButtons } from './buttons.ts'
import { shortId, stateWords, timeTaken, tookNoTime } from './words.ts'

export interface CardView {
  request: Request
  description: Description
  /** What the preflight check could not find out, each a phrase. */
  unchecked: string[]
  /** What approvers should know and what does not stand against it, each a sentence or two. */
  warnings: string[]
  /** Why it ended as it did, and what to do next. */
  ending: Words
  /** False where another version of Lockkeeper wrote it and this one does not know its kind or state: it has no buttons then. */
  isKnown: boolean
  /** What the button for the requester says, where the result is for them alone. */
  handoverLabel: string | undefined
  /** What the button for undoing it says, where it can be undone. */
  reverseLabel: string | undefined
  /** The policy's rule for it as it is now; undefined where there is none any more. */
  rule: PolicyRule | undefined
  environment: string | undefined
}

/**
 * The card of a request, made anew from the record at every change. It shows what was asked for whole, in every state, because
 * what is approved is what is shown. Pure.
 */
export function approvalCard(view: CardView): Message {
  return message({ text: fallbackText(view), blocks: cardBlocks(view) })
}

function cardBlocks(view: CardView): KnownBlock[] {
  const { description, environment } = view
  const title = header(`${environment ? `[${environment}] ` : ''}${description.title}`)
  return [title, ...cardBody(view), ...buttons(view)]
}

/** Everything that a card says, without its title and its buttons. Pure. */
export function cardBody(view: CardView): KnownBlock[] {
  const { request, description, unchecked, warnings } = view
  return [
    ...wholeSection(statusLine(view)),
    ...approvalLines(view),
    ...fields(description.facts.map(factField)),
    ...(request.reason ? plainSection(`Reason: “${request.reason}”`) : []),
    ...(warnings.length > 0 ? wholeSection(mrkdwn`:warning: *Warning:* ${warnings.join(' ')}`) : []),
    ...(unchecked.length > 0 ? wholeSection(mrkdwn`:warning: *Not checked:* ${unchecked.join('; ')}.`) : []),
    ...context([history(view)]),
  ]
}

/**
 * Whether a card shows all of it, now and in every later state: what does not fit into one message cannot be asked for, so that nothing is
 * approved that is not shown. Pure.
 */
export function fitsOnCard(view: CardView): boolean {
  const blocks = cardBlocks(view)
  return blocks.length <= mostBlocks && charactersIn(blocks) <= mostCharacters - laterCharacters
}

const mostBlocks = 50

/** Room for what later states add: the approvals, a reason (500 characters, each up to five once it is escaped), and how it ended. */
const laterCharacters = 5_000

/** One line: how it stands, and what happens next. */
function statusLine({ request, description, rule, handoverLabel, ending }: CardView): Mrkdwn {
  const why = endingWords(ending)
  switch (request.state) {
    case 'waiting':
      return request.needsApproval
        ? mrkdwn`:hourglass_flowing_sand: *Waiting for approval* by ${approversInWords(request, rule)}, until ${dateTime(request.expiresAt)}.${calling(rule)}`
        : mrkdwn`:hourglass_flowing_sand: *About to start.* No approval is needed for this here.`
    case 'approved':
      return handoverLabel
        ? mrkdwn`:white_check_mark: *Approved.* ${mention(request.origin.userId)}, press *${handoverLabel}* until ${dateTime(request.expiresAt)}: the token is shown to you alone, and once.`
        : mrkdwn`:white_check_mark: *Approved*, about to start.`
    case 'starting':
      return mrkdwn`:arrow_forward: *Starting*: sent to the account API, which has not confirmed it yet.`
    case 'tracking': {
      const late = request.lateAt === undefined ? mrkdwn`` : mrkdwn` This takes longer than it should; I keep following it.`
      return mrkdwn`:arrows_counterclockwise: *${capitalised(stateWords(request, description.underway))}* since ${dateTime(request.sentAt ?? request.createdAt)}.${late}`
    }
    case 'done':
      return tookNoTime(request) ? mrkdwn`:large_green_circle: *Done.*` : mrkdwn`:large_green_circle: *Done*, in ${timeTaken(request)}.`
    case 'failed':
      return mrkdwn`:red_circle: *Failed.*${why}`
    case 'not-started':
      return mrkdwn`:red_circle: *Not started.*${why}`
    case 'superseded':
      return mrkdwn`:large_orange_circle: *Superseded.*${why}`
    case 'untracked':
      return mrkdwn`:large_orange_circle: *No longer followed*, because ${stopper(request)} stopped it. The account API had accepted it, so it may still complete; I do not tell when.`
    case 'voided':
      return mrkdwn`:large_orange_circle: *Void: nothing was done.*${why}`
    case 'rejected':
      return mrkdwn`:no_entry: *Rejected* by ${decider(request)}.${request.decision?.reason ? mrkdwn` Reason: ${code(request.decision.reason)}` : mrkdwn``}`
    case 'withdrawn':
      return mrkdwn`:leftwards_arrow_with_hook: *Withdrawn* by ${mention(request.origin.userId)}.`
    case 'expired':
      return ending.why
        ? mrkdwn`:alarm_clock: *Expired.*${why} Nothing was done.`
        : mrkdwn`:alarm_clock: *Expired*: nobody decided in time, and nothing was done.`
    case 'unknown':
      return mrkdwn`:grey_question: *${capitalised(stateWords(request))}.*`
  }
}

/** Why it ended, and what to do next where that is not to request it again. */
function endingWords({ why, next }: Words): Mrkdwn {
  return mrkdwn`${why && ` ${why}`}${next === undefined ? '' : ` ${next}`}`
}

function approversInWords(request: Request, rule: PolicyRule | undefined): Mrkdwn {
  if (request.approverNames !== undefined) return mrkdwn`${request.approverNames}`
  return rule?.approve ? whoApproves(rule.approve) : mrkdwn`nobody: no rule of the policy covers it any more`
}

/** Whom a rule calls, where these are others than those who may approve. */
function calling(rule: PolicyRule | undefined): Mrkdwn {
  const called = rule?.mention ? whoIsIn(rule.mention) : mrkdwn``
  return called.text === '' ? called : mrkdwn` For the attention of ${called}.`
}

/** Where it takes more than one approval, or has one already: who has approved, and how many it takes. */
function approvalLines(view: CardView): KnownBlock[] {
  const count = countOf(view)
  if (!count) return []
  const by = view.request.approvals.map(({ by: userId, at }) => mrkdwn`${mention(userId)}, ${dateTime(at)}`)
  const who = by.length > 0 ? mrkdwn`: ${joinMrkdwn(by, '; ')}` : mrkdwn``
  return wholeSection(mrkdwn`:ballot_box_with_check: *${count}*${who}`)
}

/** `1 of 2 approvals`, by what counted at the last one: somebody may have left the group since they approved. */
function countOf({ request, rule }: CardView): string | undefined {
  if (request.state !== 'waiting' || !request.needsApproval) return undefined
  const needed = rule?.approve ? approvalsNeeded(rule.approve) : 1
  const { approvals, missing } = request
  if (needed === 1 && approvals.length === 0) return undefined
  return `${missing === undefined ? approvals.length : needed - missing} of ${needed} approvals`
}

function stopper(request: Request): Mrkdwn {
  return request.stoppedBy ? mention(request.stoppedBy) : mrkdwn`somebody`
}

function factField({ label, value, detail }: Fact): Mrkdwn {
  return detail ? mrkdwn`*${label}*\n${code(value)}\n${detail}` : mrkdwn`*${label}*\n${code(value)}`
}

/** Who asked and who decided, when, and by what name this request goes. */
function history({ request }: CardView): Mrkdwn {
  const parts = [mrkdwn`Asked for by ${mention(request.origin.userId)}, ${dateTime(request.createdAt)}`]
  const decided = request.decidedAt === undefined ? undefined : dateTime(request.decidedAt)
  if (decided && request.state !== 'rejected') parts.push(...approvalsOf(request, decided))
  if (decided && request.state === 'rejected') parts.push(mrkdwn`Rejected by ${decider(request)}, ${decided}`)
  parts.push(mrkdwn`Request ${code(shortId(request))}`)
  return joinMrkdwn(parts, '  ·  ')
}

function approvalsOf({ decision, approvals, needsApproval }: Request, decided: Mrkdwn): Mrkdwn[] {
  if (!needsApproval || decision?.by === undefined) return [mrkdwn`Needed no approval`]
  if (decision.breakGlass) {
    const why = decision.reason ? mrkdwn` Reason: ${code(decision.reason)}` : mrkdwn``
    return [mrkdwn`:rotating_light: *Break-glass:* approved alone by ${mention(decision.by)}, who asked for it, ${decided}.${why}`]
  }
  if (approvals.length < 2) return [mrkdwn`Approved by ${mention(decision.by)}, ${decided}`]
  return approvals.map(({ by, at }) => mrkdwn`Approved by ${mention(by)}, ${dateTime(at)}`)
}

function decider(request: Request): Mrkdwn {
  return request.decision?.by ? mention(request.decision.by) : mrkdwn`the rules`
}

function buttons(view: CardView): KnownBlock[] {
  const { request } = view
  // A block id of its own for every revision: Slack keeps what was entered in a block whose id stays.
  return actions(cardActions(view), `card-${request.id}-${request.revision}`)
}

/** The buttons that a request has in its present state. Pure. */
export function cardActions({
  request,
  isKnown,
  ending,
  reverseLabel,
  handoverLabel,
}: Pick<CardView, 'request' | 'isKnown' | 'ending' | 'reverseLabel' | 'handoverLabel'>): Button[] {
  const make = (name: CardButton, text: string, more: Partial<ButtonParts> = {}) =>
    button({ text, actionId: cardButtons[name], value: buttonValue(request), ...more })

  if (!isKnown) return []
  switch (request.state) {
    case 'waiting':
      return request.needsApproval
        ? [make('approve', 'Approve', { style: 'primary' }), make('reject', 'Reject', { style: 'danger' }), make('withdraw', 'Withdraw')]
        : []
    case 'approved':
      return handoverLabel ? [make('handOver', handoverLabel, { style: 'primary' }), make('withdraw', 'Withdraw')] : []
    case 'tracking':
      return [make('stopTracking', 'Stop watching', { confirm: stopConfirm })]
    case 'untracked':
      return [make('trackAgain', 'Watch again')]
    case 'done':
      return reverseLabel ? [make('reverse', reverseLabel)] : []
    case 'failed':
    case 'not-started':
    case 'superseded':
    case 'voided':
    case 'rejected':
    case 'withdrawn':
    case 'expired':
      return ending.next === undefined ? [make('again', 'Request again')] : []
    default:
      return []
  }
}

const stopConfirm = {
  title: 'Stop watching?',
  text: mrkdwn`It was accepted and cannot be cancelled any more. It may still complete, and nobody is told when.`,
  confirm: 'Stop watching',
  deny: 'Go on watching',
}

/** The whole card in words, for notifications and screen readers. */
function fallbackText(view: CardView): Mrkdwn {
  const { request, description, unchecked, warnings } = view
  const facts = description.facts.map((fact) => mrkdwn`${fact.label}: ${fact.value}${fact.detail ? ` (${fact.detail})` : ''}`)
  const lines = [
    mrkdwn`${view.environment ? `[${view.environment}] ` : ''}${description.sentence}`,
    statusLine(view),
    ...approvalsInWords(view),
    ...facts,
    ...(request.reason ? [mrkdwn`Reason: ${code(request.reason)}`] : []),
    ...(warnings.length > 0 ? [mrkdwn`Warning: ${warnings.join(' ')}`] : []),
    ...(unchecked.length > 0 ? [mrkdwn`Not checked: ${unchecked.join('; ')}.`] : []),
    history(view),
  ]
  return joinMrkdwn(lines, '\n')
}

function approvalsInWords(view: CardView): Mrkdwn[] {
  const count = countOf(view)
  if (count === undefined) return []
  const by = view.request.approvals.map(({ by: userId }) => mention(userId))
  return [by.length > 0 ? mrkdwn`${count}: ${joinMrkdwn(by, ', ')}` : mrkdwn`${count}`]
}
