import type { KnownBlock } from '@slack/web-api'
import { z } from 'zod'
import { isMachine } from '../domain/approval.ts'
import { longestReason, type ReasonTerms } from '../domain/policy.ts'
import type { Request, Waits } from '../domain/request.ts'
import type { RequestedChange } from '../domain/requested-change.ts'
import { type Phrase, phraseText, withoutOwner } from '../domain/text.ts'
import { type StartProblem, timeWords } from '../domain/times.ts'
import { button, context, message, reasonInput, sectionWithButton, startInput, wholeSection } from '../slack/blocks.ts'
import { longestButtonValue } from '../slack/fit.ts'
import { readMetadata } from '../slack/payloads.ts'
import {
  alternatives,
  channelMention,
  code,
  dateTime,
  joinMrkdwn,
  link,
  type Mrkdwn,
  mention,
  mrkdwn,
  nameWords,
  phraseWords,
  toPlainText,
  truncate,
} from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'
import { heldBriefly, relatedWords, stateWords } from './request-words.ts'

export function reasonRequired({ rule, pattern }: ReasonTerms): Mrkdwn {
  return mrkdwn`The rule “${rule}” requires a reason${pattern === undefined ? '' : mrkdwn` with a match of ${code(pattern)}`}.`
}

const forApprovers = 'Approvers will see this.'

/** `metadata`: what rules require of it, what was typed, and the requests that it undoes or repeats. `entered`: what was entered so far. */
export function reasonField(metadata: string, entered: string | undefined): KnownBlock[] {
  const { reason, reasonTerms: terms, ...earlier } = readMetadata(metadata) ?? {}
  const hint = terms ? `${toPlainText(reasonRequired(terms))} ${forApprovers}` : forApprovers
  return [
    ...relatedWords(earlier).flatMap((words) => context([words])),
    reasonInput(entered ?? reason, hint, { optional: terms === undefined }),
  ]
}

/** Follows a start that can't be read, except in a form, where the field says it. */
export const startExamples = mrkdwn`Write a time such as ${code('22:00')}, ${code('fri 18:00')}, ${code('2026-12-01 06:00')} or ${code('in 2h')}.`

/** Says what was understood, in the zone of the person, because they may have another one in mind. `what`: what was typed. */
export function startProblem(typed: string, problem: StartProblem, zone: string, what: 'start' | 'end' = 'start'): Mrkdwn {
  const at = (ms: number) => timeWords(ms, zone)
  switch (problem.code) {
    case 'unreadable':
      return mrkdwn`${code(truncate(typed, 80, 'plain'))} isn't a time.`
    case 'ambiguous':
      return mrkdwn`${code(truncate(typed, 80, 'plain'))} can be two dates. Write the year first, such as ${code('2026-12-24')}.`
    case 'past':
      return mrkdwn`${timeWords(problem.at, zone, { hasYear: true })} is ${what === 'end' ? 'too early' : 'past'}. Write a later time, or none.`
    case 'too-far':
      return mrkdwn`${at(problem.at)} is more than 14 days ahead. The latest ${what} is ${at(problem.latest)}.`
  }
}

export function startField(metadata: string, entered: string | undefined): KnownBlock[] {
  const { start, zone } = readMetadata(metadata) ?? {}
  return [startInput(entered ?? start, `Such as 22:00, tomorrow 06:00 or in 2h${zoneWords(zone)}. Leave empty to start at once.`)]
}

/** Above a form that opens because a time stood after *because*. */
export function typedLate(late: string, field: string): Mrkdwn {
  return mrkdwn`You typed ${code(late)} after ${code('because')}: it is in *${field}* now. Check it.`
}

/** In whose time zone a time is read. */
export function zoneWords(zone: string | undefined): string {
  return zone === undefined ? ', in your Slack time zone' : ` (${zone})`
}

/** `card-delayed`: the request is recorded, and Slack has not confirmed its message yet, or Redis could not note that. */
export interface SubmitOutcome {
  is: 'posted' | 'card-delayed'
  requestId: string
  /** False for a repeated delivery. */
  isNew?: boolean
  title: Mrkdwn
  channelId: string
}

export type Submit = (requested: RequestedChange) => Promise<SubmitOutcome>

/** Where the requester does not see the request message. */
export function submittedWords({ is, channelId, title }: SubmitOutcome): Mrkdwn {
  if (is === 'posted') return mrkdwn`Posted in ${channelMention(channelId)}: “${title}”.`
  return mrkdwn`Recorded: “${title}”. If its message isn't in ${channelMention(channelId)} yet, it will appear there.`
}

export function tooManyUndecided(most: number): Mrkdwn {
  const many = most === 1 ? '1 request' : `${most} requests`
  return mrkdwn`Not requested: you have ${many} waiting for approval, the limit. Withdraw one, or wait for a decision.`
}

export function tooManyLately(most: number, retryAt: number): Mrkdwn {
  const minute = Math.ceil(retryAt / 60_000) * 60_000
  return mrkdwn`Not requested: you made ${most} requests in 10 minutes, the limit. Try again at ${dateTime(minute)}.`
}

/** `holds`: what people call what an open request locks and a new one needs. `freeAt`: until when what is no longer tracked locks it. `canLeaveOut`: the new one is possible without it. `mayDecide`: the viewer may decide them. */
export function othersAreOpen(
  held: {
    holder: Request
    waits?: Waits | undefined
    freeAt?: number | undefined
    link: string | undefined
    title: Phrase
    holds: string[]
  }[],
  viewerId: string,
  { canLeaveOut = false, mayDecide = false } = {},
): Mrkdwn {
  const each = held.map(({ holder, waits, link: address, title, holds }) => {
    const { userId, channelId } = holder.origin
    const who = userId === viewerId ? mrkdwn`you have` : mrkdwn`${mention(userId)} has`
    const plain = withoutOwner(title, userId)
    const what = address === undefined ? phraseWords(plain) : link(address, phraseText(plain))
    const state = [mrkdwn`${stateWords(holder)}`, waits ? heldBriefly(waits) : []].flat()
    return mrkdwn`${who} an open request for ${joinMrkdwn(holds.map(nameWords), ', ')} in ${channelMention(channelId)}: “${what}” (${joinMrkdwn(state, ', ')}).`
  })
  const then = canLeaveOut ? ' To move the others, choose them in the form.' : ''
  const because = joinMrkdwn(each, '\nAlso: ')
  const freeAt = Math.max(...held.map((one) => one.freeAt ?? Number.POSITIVE_INFINITY))
  if (Number.isFinite(freeAt))
    return mrkdwn`Not requested: ${because}\nIt was sent without an answer, and may still take effect. Try again at ${dateTime(Math.ceil(freeAt / 60_000) * 60_000)}.${then}`
  const instead = withdrawing(
    held.map(({ holder }) => holder),
    viewerId,
    mayDecide,
  )
  return mrkdwn`Not requested: ${because}\nWait until ${held.length > 1 ? 'they end' : 'it ends'}${instead}.${then}`
}

/** What is undecided is withdrawn by its requester, and what is approved by its approvers too. A machine clicks nothing, and what was sent nobody withdraws. */
function withdrawing(holders: Request[], viewerId: string, mayDecide: boolean): Mrkdwn {
  const unsent = holders.filter(({ state }) => state === 'waiting' || state === 'approved')
  if (unsent.length < holders.length) return mrkdwn``
  if (unsent.every(({ origin }) => origin.userId === viewerId)) return mrkdwn`, or withdraw it`
  const isUndecided = unsent.every(({ state }) => state === 'waiting')
  if (isUndecided && mayDecide) return mrkdwn`, or decide it first`
  const requesters = new Map(unsent.map(({ origin }) => [origin.userId, origin]))
  const people = [...requesters.values()].filter((origin) => !isMachine(origin)).map(({ userId }) => mention(userId))
  if (people.length === 0 && isUndecided) return mrkdwn`, or have an approver decide it`
  const alsoApprovers = unsent.some(({ state, origin }) => state === 'approved' || isMachine(origin))
  return mrkdwn`, or have it withdrawn by ${alternatives([...people, ...(alsoApprovers ? [mrkdwn`an approver`] : [])])}`
}

/** The operators have a notice with what to do about it. */
export function lockedByUnreadable(id: string): Mrkdwn {
  return mrkdwn`Not requested: request ${code(id)} holds this, and can't be read. Lockkeeper's operators were notified.`
}

export function tooLongReason(length: number): Mrkdwn {
  return mrkdwn`A reason can have up to ${longestReason} characters. This one has ${length}.`
}

/** The value of a choice's button: the input of the change, which anybody could type as a command, and the rest of the command. */
export const ChoiceButton = z.object({
  version: z.literal(2),
  input: z.unknown(),
  command: z.string(),
  reason: z.string().optional(),
  start: z.string().optional(),
})
type ChoiceButton = z.infer<typeof ChoiceButton>

export type TypedChoice = Pick<ChoiceButton, 'command' | 'reason' | 'start'>

interface Question extends TypedChoice {
  question: Mrkdwn
  choices: { words: Mrkdwn; input: unknown }[]
  actionId: string
  /** The command that names the thing by its id, for those that are not shown. */
  byId: string
}

/** Each choice takes one of the 50 blocks of a message, and a line of its 4,000 characters of text. */
const mostChoices = 30

export function whichOne({ question, choices, actionId, byId, command, reason, start }: Question): Message {
  const shown = choices
    .map(({ words, input }) => ({ words, value: JSON.stringify({ version: 2, input, command, reason, start } satisfies ChoiceButton) }))
    .filter(({ value }) => value.length <= longestButtonValue)
    .slice(0, mostChoices)
  const left = choices.length - shown.length
  return message([
    ...wholeSection(question),
    ...shown.map(({ words, value }) => sectionWithButton(words, button({ text: 'This one', actionId, value, about: toPlainText(words) }))),
    ...(left > 0 ? wholeSection(mrkdwn`Not shown: ${left} more. Use the id: ${code(byId)}.`) : []),
  ])
}

export function choiceWords(name: string, mark: Mrkdwn, details: (Mrkdwn | string | undefined)[]): Mrkdwn {
  const known = details.flatMap((part) => (part ? [mrkdwn`${part}`] : []))
  return mrkdwn`*${nameWords(name)}*  ·  ${mark}\n${joinMrkdwn(known, '  ·  ')}`
}
