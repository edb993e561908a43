import type { AuditEntry } from '../../audit/entry.ts'
import type { ChangeKind } from '../../domain/change-kind.ts'
import type { StepName } from '../../requests/steps.ts'
import { channelMention, code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, ownWords, quotation } from '../../slack/text/text.ts'
import { causesInWords, subjectOf, type WordsOfChanges } from './entry-words.ts'
import type { JudgedEvent } from './judge-events.ts'
import { refusedSentence } from './refused.ts'
import { ruleWords } from './rule-words.ts'

interface ActWords {
  /** What a person types to find it: `/infra audit approve`. */
  word: string
  mark: string
  words: string
}

/** Every step in words. */
const stepWords: Record<StepName, ActWords> = {
  approve: { word: 'approve', mark: ':white_check_mark:', words: 'Approved' },
  'count-approval': { word: 'approve', mark: ':white_check_mark:', words: 'Approved' },
  exempt: { word: 'approve', mark: ':white_check_mark:', words: 'Needed no approval' },
  'break-glass': { word: 'break-glass', mark: ':rotating_light:', words: 'Approved alone by who asked for it (break-glass)' },
  reject: { word: 'reject', mark: ':no_entry_sign:', words: 'Rejected' },
  withdraw: { word: 'withdraw', mark: ':leftwards_arrow_with_hook:', words: 'Withdrawn' },
  'withdraw-key': { word: 'withdraw', mark: ':leftwards_arrow_with_hook:', words: 'Withdrawn' },
  expire: { word: 'expire', mark: ':hourglass:', words: 'Expired' },
  'expire-approved': { word: 'expire', mark: ':hourglass:', words: 'Expired' },
  'remind-half': { word: 'remind', mark: ':bell:', words: 'Reminded the approvers' },
  'remind-last': { word: 'remind', mark: ':bell:', words: 'Reminded the approvers' },
  void: { word: 'void', mark: ':warning:', words: 'Void, because the account had changed' },
  drop: { word: 'give-up', mark: ':white_circle:', words: 'Given up before anything was sent' },
  send: { word: 'send', mark: ':arrow_forward:', words: 'Sent to the account' },
  issue: { word: 'send', mark: ':arrow_forward:', words: 'Sent to the account' },
  accept: { word: 'accept', mark: ':arrows_counterclockwise:', words: 'Accepted by the account' },
  late: { word: 'late', mark: ':snail:', words: 'Takes longer than expected' },
  restart: { word: 'restart', mark: ':warning:', words: 'Started after all' },
  finish: { word: 'end', mark: ':large_green_circle:', words: 'Done' },
  fail: { word: 'end', mark: ':red_circle:', words: 'Failed' },
  'fail-begun': { word: 'end', mark: ':red_circle:', words: 'Failed' },
  supersede: { word: 'end', mark: ':white_circle:', words: 'Superseded by another change' },
  'not-start': { word: 'end', mark: ':white_circle:', words: 'Not started' },
  'correct-to-done': { word: 'correct', mark: ':warning:', words: 'Corrected: done' },
  'correct-to-failed': { word: 'correct', mark: ':warning:', words: 'Corrected: failed' },
  'correct-to-superseded': { word: 'correct', mark: ':warning:', words: 'Corrected: superseded by another change' },
  'correct-to-not-started': { word: 'correct', mark: ':warning:', words: 'Corrected: not started' },
  'stop-tracking': { word: 'stop-tracking', mark: ':see_no_evil:', words: 'No longer followed' },
  'track-again': { word: 'track-again', mark: ':eyes:', words: 'Followed again' },
}

/** What the audit notes besides steps, and every step. */
export const acts: Record<string, ActWords> = {
  request: { word: 'ask', mark: ':speech_balloon:', words: 'Asked for' },
  discard: { word: 'discard', mark: ':wastebasket:', words: 'Taken back before anybody saw it' },
  answer: { word: 'answer', mark: ':arrow_backward:', words: 'The account answered' },
  refused: { word: 'refused', mark: ':no_entry:', words: 'Refused' },
  unreadable: { word: 'unreadable', mark: ':grey_question:', words: 'Something that cannot be read' },
  ...stepWords,
}

const unknownMark = ':small_blue_diamond:'

/** What an entry says was done: `Approved`. An act that nobody knows is shown as it is. Pure. */
export function wordsOfAct({ act, missing, needed }: AuditEntry): string {
  if (act === 'count-approval' && missing !== undefined && needed !== undefined) return `Approved, with ${missing} more of ${needed} needed`
  return knownWords(act)?.words ?? act
}

function knownWords(act: string): ActWords | undefined {
  return Object.hasOwn(acts, act) ? acts[act] : undefined
}

/** The words by which acts are found. */
export const typedActs = new Set(Object.values(acts).map(({ word }) => word))

export function typedWordOf(act: string): string | undefined {
  return knownWords(act)?.word
}

function markOf({ act }: AuditEntry): string {
  return knownWords(act)?.mark ?? unknownMark
}

/** One entry as a sentence, with what the account says of it beneath. Pure. */
export function entryRow(entry: AuditEntry, confirmedBy: JudgedEvent[], catalog: WordsOfChanges): Mrkdwn {
  const sentence = entry.act === 'refused' ? refusedSentence(entry, catalog) : actSentence(entry, catalog)
  const confirmations = confirmedBy.map((judged) => mrkdwn`↳ confirmed by the account: ${eventWords(judged)}`)
  return joinMrkdwn(
    [mrkdwn`${ownWords(markOf(entry))} ${joinMrkdwn([sentence, ...details(entry, catalog)], '  ·  ')}`, ...confirmations],
    '\n',
  )
}

function actSentence(entry: AuditEntry, catalog: WordsOfChanges): Mrkdwn {
  const { by, at } = entry
  const what = subjectOf(entry, catalog)
  const subject = what === undefined ? mrkdwn`` : mrkdwn` ${quotation(what)}`
  const who = by === undefined ? mrkdwn`` : mrkdwn` by ${mention(by)}`
  return mrkdwn`*${wordsOfAct(entry)}*${subject}${who}, ${dateTime(at)}`
}

/** Why, by which rule, what came of it, and where. */
function details(entry: AuditEntry, catalog: WordsOfChanges): Mrkdwn[] {
  const { act, reason, requestId, channelId, text } = entry
  const place = [
    ...(requestId === undefined ? [] : [mrkdwn`${requestId.slice(0, 8)}`]),
    ...(channelId ? [mrkdwn`in ${channelMention(channelId)}`] : []),
  ]
  return [
    ...ruleWords(entry),
    ...(reason === undefined ? [] : [mrkdwn`reason: ${code(reason)}`]),
    ...answerWords(entry),
    ...(act === 'refused' ? [] : [...causesInWords(entry, catalog), ...(text ? [text] : [])].map((words) => mrkdwn`${words}`)),
    ...(place.length === 0 ? [] : [joinMrkdwn(place, ' ')]),
  ]
}

/** `elasticIps.move: 202`, and what it made. */
function answerWords({ answer, resourceId }: AuditEntry): Mrkdwn[] {
  const codes = answer?.codes?.length ? ` ${answer.codes.join(', ')}` : ''
  const said = answer ? [mrkdwn`${answer.operation}: ${answer.status ?? answer.problem ?? 'no answer'}${codes}`] : []
  return [...said, ...(resourceId === undefined ? [] : [mrkdwn`${resourceId}, shown to the person who asked`])]
}

/** One of the account's own events, where it stands by itself. Pure. */
export function eventRow(judged: JudgedEvent): Mrkdwn {
  const words = eventWords(judged)
  switch (judged.is) {
    case 'confirms': {
      const { requestId } = judged.entry
      return mrkdwn`:ballot_box_with_check: account: ${words}  ·  made by this bot${requestId === undefined ? '' : `, for ${requestId.slice(0, 8)}`}`
    }
    case 'outside': {
      const beside = judged.beside ? '  ·  at the time of a change of this bot, which another event confirms' : ''
      return mrkdwn`:warning: account: *made outside this bot*: ${words}${beside}`
    }
    case 'harmless':
      return mrkdwn`:white_small_square: account: ${words}`
    case 'unjudged':
      return mrkdwn`:grey_question: account: ${words}  ·  whether this bot made it is not known: ${judged.at === undefined ? 'the account does not tell when' : 'it is older than the entries that were looked through'}`
  }
}

/** `update.elastic_ip` of 203.0.113.10 by ops (ops@nimbus.example), 12:03. */
function eventWords({ event: { action, target, author }, at }: JudgedEvent): Mrkdwn {
  const what = action === undefined ? mrkdwn`something (the account does not tell what)` : code(action)
  const name = target?.name ?? target?.id
  return mrkdwn`${what}${name === undefined ? '' : mrkdwn` of ${code(name)}`} by ${authorWords(author)}, ${dateTime(at ?? Number.NaN)}`
}

function authorWords(author: JudgedEvent['event']['author']): Mrkdwn {
  const name = author?.name ?? author?.id
  if (author?.email === undefined) return name === undefined ? mrkdwn`somebody (the account does not tell who)` : mrkdwn`${name}`
  return name === undefined ? mrkdwn`${author.email}` : mrkdwn`${name} (${author.email})`
}

export interface Looked {
  looked: number
  unreadable: number
  /** The time of the oldest that was looked at. */
  since: number | undefined
  all: boolean
  /** So many fit that older ones are left out. */
  full: boolean
}

/** What was looked through, and what was not. Pure. */
export function lookedNote({ looked, unreadable, since, all, full }: Looked, fitting: number): Mrkdwn {
  const count = looked.toLocaleString('en-US')
  const back = since === undefined ? mrkdwn`` : mrkdwn`, back to ${dateTime(since)}`
  const through = all
    ? mrkdwn`Looked through all ${count} entries${back}.`
    : mrkdwn`Looked through the newest ${count} entries${back}; there are older ones.`
  const cut = full ? mrkdwn` Only the newest ${fitting} that fit are shown: use more words.` : mrkdwn``
  const broken = unreadable > 0 ? mrkdwn` *${unreadable} of them cannot be read.*` : mrkdwn``
  return mrkdwn`${through}${cut}${broken} ${code('npm run audit:verify')} checks that none was changed, removed or put in.`
}

/** What may be typed, with a kind that there is as an example. */
export function filterNote([kind]: ChangeKind[]): Mrkdwn {
  const example = kind === undefined ? mrkdwn`` : mrkdwn` (${code(kind)})`
  return mrkdwn`Words filter, and all of them have to fit: a person (a mention, or ${code('me')}), a channel, a kind${example}, an act (${code('approve')}, ${code('refused')}), a request by its first 8 characters, an address, a name, an id. Where they lead to few things, the account's own events of those stand beside.`
}

/** Whose events stand beside. Pure. */
export function besideNote(names: string[], since: number, fullNames: string[]): Mrkdwn {
  const cut = fullNames.length > 0 ? mrkdwn` Of ${codes(fullNames)} only the newest 100.` : mrkdwn``
  return mrkdwn`Beside them: the account's own events of ${codes(names)} since ${dateTime(since)}.${cut}`
}

export function unreadableEvents(names: string[], sentence: string): Mrkdwn {
  return mrkdwn`:warning: The account's own events of ${codes(names)} could not be read, so changes made outside this bot are not shown. ${sentence}`
}

export const tooManyThings: Mrkdwn = mrkdwn`These entries are about more than three things, so the account's own events are not shown: use an address, a name or an id.`

function codes(names: string[]): Mrkdwn {
  return joinMrkdwn(names.map(code), ', ')
}

export function title(entries: number, events: number, filter: Mrkdwn | undefined): Mrkdwn {
  const beside = events > 0 ? ` and ${events === 1 ? '1 event' : `${events} events`} of the account` : ''
  const about = filter === undefined ? mrkdwn`` : mrkdwn` for ${filter}`
  return mrkdwn`Audit: ${entries === 1 ? '1 entry' : `${entries} entries`}${beside}${about}, newest first`
}

export function nothing(filter: Mrkdwn | undefined): Mrkdwn {
  return filter === undefined ? mrkdwn`Nothing has been noted yet.` : mrkdwn`No entry fits ${filter}. Use fewer or other words.`
}
