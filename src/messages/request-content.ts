import type { KnownBlock } from '@slack/web-api'
import type { Description, Fact, Kept, Left, Words } from '../domain/change.ts'
import type { PolicyRule } from '../domain/policy.ts'
import type { Request, Waits } from '../domain/request.ts'
import { cleanText, formatDuration, type Phrase, phraseText, withoutOwner } from '../domain/text.ts'
import { context, header, reasonBlocks, wholeSection } from '../slack/blocks.ts'
import { longestHeader } from '../slack/fit.ts'
import {
  boldPhrase,
  dateTime,
  factName,
  joinMrkdwn,
  link,
  type Mrkdwn,
  mention,
  mrkdwn,
  outsideLink,
  phraseWords,
  truncate,
} from '../slack/text.ts'
import type { ItemView } from './items.ts'
import { alertWords, emergencyReason, type LinkedRequest, relatedWords } from './request-words.ts'
import { whyWords } from './why-not.ts'

/** What the messages about a request are made from: its message, details, reports, and the Home tab. */
export interface CardView {
  request: Request
  /** False if another version of Lockkeeper wrote the request and this one cannot read its kind or state, or if it cannot be verified. The card then has no buttons. */
  isKnown: boolean
  description: Description
  /** Each item of a change of several. Empty for a change of a single resource. */
  items: ItemView[]
  /** What the change leaves as it is although people may expect otherwise. */
  left?: Left | undefined
  /** The checks that got no answer, each as a phrase. */
  unchecked: Mrkdwn[]
  /** What approvers should check before they approve, each as one or two sentences. */
  checks: Mrkdwn[]
  notes: Mrkdwn[]
  /** The server to which it moves addresses. */
  target?: string | undefined
  /** What is known of alerts about the target. A note once they resolved. */
  targetAlert?: Words | undefined
  ending: Words
  /** The same can't be requested again with a form. */
  hasNoForm?: true | undefined
  done: Phrase
  /** An unexpected fact about the account at the write, which did not prevent it. */
  remark?: string | undefined
  /** The requester's button of a change whose result only the requester gets. `warning`: what they must confirm. `tooLateAt`: when its key ends. */
  handover?: { label: string; warning?: string | undefined; tooLateAt?: number | undefined } | undefined
  keeps?: Kept | undefined
  reverseLabel?: string | undefined
  undoes?: LinkedRequest | undefined
  repeats?: LinkedRequest | undefined
  rule: PolicyRule | undefined
  environment: string | undefined
  /** What would keep it from starting, if it were approved now or its requester started it now. */
  held?: Waits | undefined
  /** How long it takes until the last write of several is sent, in ms: all of them, or those that are left. */
  sendingMs?: number | undefined
  /** The address of the message that it was requested from, if the request message may link it. */
  fromMessage?: string | undefined
}

/** While it waits, what an alert requested begins with the alert's own words, as it is the news. They are untrusted, and plain text. */
export function titleText(view: CardView): string {
  const { description, environment, request } = view
  const news = isNews(view) ? `🚨 ${newsOf(request)}. ${phraseText(description.short ?? description.title)}?` : undefined
  return `${prefixOf(environment)}${news ?? phraseText(description.title)}`
}

/** A heading is plain text: its times would be in UTC, and those of the finished message in each reader's zone. */
export function titleBlocks(view: CardView): KnownBlock[] {
  const { title } = view.description
  if (title.some((part) => typeof part !== 'string' && 'time' in part))
    return wholeSection(mrkdwn`*${prefixOf(view.environment)}${phraseWords(withoutOwner(title))}*`)
  const text = titleText(view)
  return [header(text), ...(text.length <= longestHeader ? [] : wholeSection(boldPhrase(title)))]
}

function isNews({ request: { alert, state } }: CardView): boolean {
  return alert !== undefined && state === 'waiting'
}

/** In a list, whose titles are without it. */
export function newsBlocks(view: CardView): KnownBlock[] {
  return isNews(view) && isInNews(view.request) ? reasonBlocks('Alert', newsOf(view.request), undefined) : []
}

const mostOfNews = 70

/** A title shows no links. */
function isInNews({ reason = '' }: Request): boolean {
  return reason.length <= mostOfNews && !reason.includes('://')
}

/** A time span in the words of an alert: `for 2 minutes`, `5m0s`. */
const spanInWords = /\b\d+ ?(?:[smhd]|sec|min|seconds?|minutes?|hours?|days?)(?![a-z])/i

type News = Pick<Request, 'alert' | 'reason' | 'createdAt'>

/** `web-1 is down (NodeDown, 2 min)`, or `NodeDown on web-1 (2 min)` for an alert without a summary. */
export function newsOf({ alert: { name, startsAt = Number.POSITIVE_INFINITY } = { name: '' }, reason = name, createdAt }: News): string {
  const short = (text: string, max: number) => truncate(cleanText(text, { oneLine: true }), max, 'plain')
  const ms = createdAt - startsAt
  const since = ms < 60_000 || spanInWords.test(reason) ? [] : [formatDuration(Math.floor(ms / 60_000) * 60_000)]
  const facts = [...(reason.startsWith(name) ? [] : [short(name, 30)]), ...since].join(', ')
  return `${short(reason, mostOfNews).replace(/[.!?]+$/, '')}${facts === '' ? '' : ` (${facts})`}`
}

export function prefixOf(environment: string | undefined): string {
  return environment ? `[${environment}] ` : ''
}

export function contentBlocks(view: CardView): KnownBlock[] {
  const { request, description } = view
  return [
    ...relatedWords(view).flatMap((words) => wholeSection(mrkdwn`${words}.`)),
    ...(isNews(view) && isInNews(request) ? [] : reasonBlocks('Reason', request.reason, view.rule?.reason)),
    ...reasonBlocks('Emergency reason', emergencyReason(request), view.rule?.reason),
    ...factBlocks(description.facts),
  ]
}

function factBlocks(facts: Fact[]): KnownBlock[] {
  return facts.length === 0 ? [] : wholeSection(joinMrkdwn(facts.map(factWords), '  ·  '))
}

function factWords({ label, value, isPerson }: Fact): Mrkdwn {
  const words = typeof value !== 'string' ? phraseWords(value, mention, factName) : isPerson ? mention(value) : factName(value)
  return label === '' ? words : mrkdwn`${label} ${words}`
}

export function leftBlocks({ left }: CardView): KnownBlock[] {
  return left?.words ? wholeSection(phraseWords(left.words)) : []
}

export function checkBlocks(view: CardView): KnownBlock[] {
  const lines = checkLines(view)
  // What the account showed then may have changed. Only the alerts are followed.
  const { state, createdAt } = view.request
  const heading = mrkdwn`:warning: *${state === 'waiting' ? 'Check first' : 'Warnings'}* (at the request, ${dateTime(createdAt)})`
  return lines.length === 0 ? [] : wholeSection(joinMrkdwn([heading, ...lines.map((line) => mrkdwn`•  ${line}`)], '\n'))
}

/** What keeps people from starting an approved request. Empty if nothing does. Later, what its thread has said of alerts, and may not say again. */
export function alertLines({ request: { state, targetTold }, targetAlert }: CardView): Mrkdwn[] {
  const isShown = state === 'approved' || (targetTold && (state === 'starting' || state === 'tracking'))
  return isShown && targetAlert && !targetAlert.isNote ? [mrkdwn`:rotating_light: ${whyWords(targetAlert)}`] : []
}

export function checkLines({ checks, unchecked }: CardView): Mrkdwn[] {
  return unchecked.length > 0 ? [...checks, mrkdwn`Not checked: ${joinMrkdwn(unchecked, '; ')}.`] : checks
}

/** Links the message, the alert or the job that it was requested from. Not on the Home tab, which is outside of the channel. */
export function sourceBlocks({ fromMessage, request: { alert, link: given } }: CardView): KnownBlock[] {
  const outside = outsideLink(given, 'open it')
  const words = [
    ...(fromMessage ? [mrkdwn`Requested from ${link(fromMessage, 'a message')}`] : []),
    ...(alert ? [mrkdwn`${alertWords(alert)}`] : []),
    ...(outside ? [mrkdwn`Unchecked link: ${outside}`] : []),
  ]
  return words.length > 0 ? context(words) : []
}
