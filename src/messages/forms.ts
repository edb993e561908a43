import type { KnownBlock, ModalView } from '@slack/web-api'
import { z } from 'zod'
import { longestReason } from '../domain/policy.ts'
import type { Request } from '../domain/request.ts'
import { type Phrase, withoutOwner } from '../domain/text.ts'
import {
  button,
  context,
  input,
  message,
  modal,
  option,
  problemBlocks,
  reasonInput,
  sectionWithButton,
  wholeSection,
} from '../slack/blocks.ts'
import { longestButtonValue } from '../slack/fit.ts'
import { type Metadata, readMetadata, writeMetadata } from '../slack/payloads.ts'
import { checkboxes } from '../slack/pickers.ts'
import {
  boldPhrase,
  channelMention,
  code,
  dateTime,
  joinMrkdwn,
  link,
  type Mrkdwn,
  mention,
  mrkdwn,
  phraseWords,
  toPlainText,
} from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'
import { breakGlassCallbackId, rejectCallbackId, relatedSentences, stateWords } from './words.ts'

// The forms for every kind of change. `problem` is shown at the top, and says why the form was refused. `entered` is the reason so far.

export function rejectForm(metadata: Metadata, title: Phrase, problem?: Mrkdwn, entered?: string): ModalView {
  return modal({
    callbackId: rejectCallbackId,
    title: 'Reject request',
    submit: 'Reject',
    metadata: writeMetadata(metadata),
    blocks: [
      ...problemBlocks(problem),
      ...wholeSection(boldPhrase(title)),
      decisionReason('Everyone in the channel can read it in the thread.', entered),
    ],
  })
}

/** Renders the form for an emergency approval by the requester. The tick below the reason is the second confirmation. */
export function breakGlassForm(metadata: Metadata, title: Phrase, problem?: Mrkdwn, entered?: string): ModalView {
  const words = mrkdwn`${boldPhrase(title)}\nYou requested this. In an emergency, you can approve it alone. It then takes effect at once. The channel sees your reason, and the audit records it as break-glass.`
  return modal({
    callbackId: breakGlassCallbackId,
    title: 'Emergency approval',
    submit: 'Approve alone',
    metadata: writeMetadata(metadata),
    blocks: [
      ...problemBlocks(problem),
      ...wholeSection(words),
      decisionReason("Why can't this wait for an approver?", entered),
      input({
        blockId: 'confirmed',
        label: 'Confirm',
        element: checkboxes({
          actionId: 'confirmed',
          options: [option({ text: 'I approve my own request', value: 'yes' })],
          ticked: [],
        }),
      }),
    ],
  })
}

function decisionReason(hint: string, entered: string | undefined) {
  return reasonInput({ entered, hint, optional: false, multiline: true })
}

/** Says why a reason is needed. `rule`: the name of the rule. */
export function reasonRequired(rule: string): Mrkdwn {
  return mrkdwn`The rule “${rule}” requires a reason.`
}

const forApprovers = 'Approvers will see this.'

/**
 * Makes the field for the reason of a request, by what the form's metadata knows: whether a rule requires one, what was typed before the form
 * opened, and the requests that it undoes or repeats. `entered`: what was entered so far.
 */
export function reasonField(metadata: string, entered: string | undefined): KnownBlock[] {
  const { reason, ruleWithReason, ...earlier } = readMetadata(metadata) ?? {}
  const hint = ruleWithReason === undefined ? forApprovers : `${toPlainText(reasonRequired(ruleWithReason))} ${forApprovers}`
  return [
    ...relatedSentences(earlier).flatMap((words) => context([words])),
    reasonInput({ entered: entered ?? reason, hint, optional: ruleWithReason === undefined }),
  ]
}

/** `card-delayed`: the request is recorded, and Slack has not confirmed its message yet. */
export interface SubmitOutcome {
  is: 'posted' | 'card-delayed'
  requestId: string
  title: Mrkdwn
  channelId: string
  /** Who is asked for approval, and until when. Undefined if no approval is needed. */
  asked: { approvers: Mrkdwn; until: Mrkdwn } | undefined
  /** The label of the requester's button, for a change whose result only the requester gets. */
  handoverLabel: string | undefined
}

export function submittedWords(outcome: SubmitOutcome): Mrkdwn {
  return outcome.is === 'posted'
    ? mrkdwn`Request posted in ${channelMention(outcome.channelId)}: “${outcome.title}”. ${whatFollows(outcome)}`
    : mrkdwn`Request recorded: “${outcome.title}”. Slack hasn't confirmed its message yet. It will appear in the channel. ${whatHoldsIt(outcome)}`
}

/** Says to a person that they have as many undecided requests as one may have. */
export function tooManyUndecided(most: number): Mrkdwn {
  const many = most === 1 ? '1 request' : `${most} requests`
  return mrkdwn`Nothing was requested. You already have ${many} waiting for approval, which is the limit. Withdraw one, or wait for a decision. Your Home tab shows them.`
}

/** Says to a person that they made as many requests in 10 minutes as one may make. `retryAt` is in ms since 1970. */
export function tooManyLately(most: number, retryAt: number): Mrkdwn {
  const minute = Math.ceil(retryAt / 60_000) * 60_000
  return mrkdwn`Nothing was requested. You made ${most} requests in the last 10 minutes, which is the limit. Try again at ${dateTime(minute)}.`
}

interface OpenRequest {
  viewerId: string
  /** What people call the resource that both requests change. */
  subject: string
  link: string | undefined
  title: Phrase
}

/** Says that another request for the same resource is open. It can be a request for another change, and its requester can be the viewer. */
export function otherIsOpen(holder: Request, { viewerId, subject, link: address, title }: OpenRequest): Mrkdwn {
  const { userId, channelId } = holder.origin
  const isOwn = userId === viewerId
  const who = isOwn ? mrkdwn`you have` : mrkdwn`${mention(userId)} has`
  const where = address === undefined ? [] : [mrkdwn`${link(address, 'Open it')}.`]
  const then = isOwn
    ? 'Wait until it ends, or withdraw it.'
    : holder.state === 'waiting'
      ? 'Have it approved or rejected there, or wait until it ends.'
      : 'Wait until it ends.'
  const requested = phraseWords(withoutOwner(title, userId))
  const what = mrkdwn`Nothing was requested, because ${who} an open request for ${code(subject)} in ${channelMention(channelId)}: “${requested}” (${stateWords(holder)}).`
  return joinMrkdwn([what, ...where, mrkdwn`${then}`], ' ')
}

/** Says which items other open requests hold, for a request of several. `holds`: the names of the items. */
export function othersAreOpen(held: { holder: Request; link: string | undefined; holds: string[] }[], viewerId: string): Mrkdwn {
  const lines = held.map(({ holder, link: address, holds }) => {
    const { userId, channelId } = holder.origin
    const who = userId === viewerId ? mrkdwn`your request` : mrkdwn`a request of ${mention(userId)}`
    const where = address === undefined ? channelMention(channelId) : link(address, 'open it')
    return mrkdwn`•  ${joinMrkdwn(holds.map(code), ', ')}: ${who} (${stateWords(holder)}), ${where}`
  })
  const before = mrkdwn`Nothing was requested, because other requests are open for some of these addresses:`
  return joinMrkdwn(
    [
      before,
      ...lines,
      mrkdwn`Wait until these requests end, or have them withdrawn or rejected. To leave these addresses out, name only the server: the form opens.`,
    ],
    '\n',
  )
}

/** The operators have a notice with what to do about it. */
export function heldByUnreadable(id: string): Mrkdwn {
  return mrkdwn`Request ${code(id)} holds this, and its record can't be read. Nothing was requested. The people who run Lockkeeper were notified.`
}

export function tooLongReason(length: number): Mrkdwn {
  return mrkdwn`A reason can have up to ${longestReason} characters. This one has ${length}.`
}

/** Only the requester reads this, so the mentions in it notify nobody. */
function whatFollows({ asked, handoverLabel }: SubmitOutcome): Mrkdwn {
  const handover =
    handoverLabel && mrkdwn`press *${handoverLabel}* on the request message. Only then is the token created, and only you see it.`
  if (!asked) return handover ? mrkdwn`No approval needed: ${handover}` : mrkdwn`No approval needed. The result will be in its thread.`
  return mrkdwn`It needs approval from ${asked.approvers} by ${asked.until}. ${handover ? mrkdwn`After that, ${handover}` : "Nothing changes until it's approved."}`
}

function whatHoldsIt({ asked, handoverLabel }: SubmitOutcome): Mrkdwn {
  const needsApproval = asked !== undefined
  if (handoverLabel) return mrkdwn`Nothing is created until ${needsApproval ? "it's approved and " : ''}you press *${handoverLabel}* on it.`
  return needsApproval ? mrkdwn`Nothing happens until it's approved.` : mrkdwn`It starts then. No approval needed.`
}

/** The value of a choice's button: the input of the change, which anybody could type as a command, and the rest of the command. */
export const ChoiceButton = z.object({
  version: z.literal(2),
  input: z.unknown(),
  command: z.string(),
  reason: z.string().optional(),
})
type ChoiceButton = z.infer<typeof ChoiceButton>

export type TypedChoice = Pick<ChoiceButton, 'command' | 'reason'>

interface Choice {
  words: Mrkdwn
  input: unknown
}

interface Question extends TypedChoice {
  question: Mrkdwn
  choices: Choice[]
  actionId: string
  /** The command that names the thing by its id, for those that are not shown. */
  byId: string
}

/** Each choice takes one of the 50 blocks of a message, and a line of its 4,000 characters of text. */
const mostChoices = 30

export function whichOne({ question, choices, actionId, byId, command, reason }: Question): Message {
  const shown = choices
    .map(({ words, input }) => ({ words, value: JSON.stringify({ version: 2, input, command, reason } satisfies ChoiceButton) }))
    .filter(({ value }) => value.length <= longestButtonValue)
    .slice(0, mostChoices)
  const left = choices.length - shown.length
  const rest = left > 0 ? [mrkdwn`${left === 1 ? "1 more isn't" : `${left} more aren't`} shown. Use the id: ${code(byId)}.`] : []
  return message([
    ...wholeSection(question),
    ...shown.map(({ words, value }) => sectionWithButton(words, button({ text: 'This one', actionId, value }))),
    ...rest.flatMap(wholeSection),
  ])
}

/** Describes a thing that can be chosen: its name and id, and below them what distinguishes it. */
export function choiceWords({ name, id }: { name: string; id: string }, details: (string | undefined)[]): Mrkdwn {
  const known = details.filter((part) => part !== undefined && part !== '')
  return mrkdwn`*${code(name)}*  ·  ${code(id)}\n${joinMrkdwn(
    known.map((part) => mrkdwn`${part ?? ''}`),
    '  ·  ',
  )}`
}
