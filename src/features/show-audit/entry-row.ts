import type { AuditEntry } from '../../audit/entry.ts'
import type { FoundEntry } from '../../audit/find-entries.ts'
import { grantWords } from '../../requests/messages/grants.ts'
import { channelMention, code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, ownWords, quotation } from '../../slack/text/text.ts'
import { eventWords } from './account/event-row.ts'
import type { MatchedEvent } from './account/match-events.ts'
import { markOf, wordsOfAct } from './act-words.ts'
import { causesInWords, subjectOf, type WordsOfChanges } from './entry-words.ts'
import { refusedSentence } from './refused.ts'

/** Why an entry cannot be taken for one that Lockkeeper wrote. */
const unverifiedWords = {
  unsigned: "it isn't signed",
  forged: "its signature doesn't fit",
  'unknown-key': "it was signed with a key that Lockkeeper doesn't have",
  copied: 'it is a copy of an older entry',
} satisfies Record<Exclude<FoundEntry['verdict'], 'genuine'>, string>

/** Shows an entry as a sentence, with the account's events that confirm it on the lines below. */
export function entryRow(entry: FoundEntry, confirmedBy: MatchedEvent[], catalog: WordsOfChanges): Mrkdwn {
  const sentence = entry.act === 'refused' ? refusedSentence(entry, catalog) : actSentence(entry, catalog)
  const confirmations = confirmedBy.map((event) => mrkdwn`↳ confirmed by the account: ${eventWords(event)}`)
  return joinMrkdwn(
    [
      mrkdwn`${ownWords(entry.verdict === 'genuine' ? markOf(entry) : ':warning:')} ${unverified(entry)}${joinMrkdwn([sentence, ...details(entry, catalog)], '  ·  ')}`,
      ...confirmations,
    ],
    '\n',
  )
}

function unverified({ verdict }: FoundEntry): Mrkdwn {
  return verdict === 'genuine' ? mrkdwn`` : mrkdwn`*Unverified* (${unverifiedWords[verdict]}): `
}

function actSentence(entry: AuditEntry, catalog: WordsOfChanges): Mrkdwn {
  const { by, at } = entry
  const what = subjectOf(entry, catalog)
  const subject = what === undefined ? mrkdwn`` : mrkdwn` ${quotation(what)}`
  const who = by === undefined ? mrkdwn`` : mrkdwn` by ${mention(by)}`
  return mrkdwn`*${wordsOfAct(entry)}*${subject}${who}, ${dateTime(at)}`
}

/** Lists the rule, the reason, the account's answer, the causes, and the request with its channel. */
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

/** Shows the account's answer (`elasticIps.move: 202`), and the id of a new key. */
function answerWords({ answer, resourceId }: AuditEntry): Mrkdwn[] {
  const codes = answer?.codes?.length ? ` ${answer.codes.join(', ')}` : ''
  const words = answer ? [mrkdwn`${answer.operation}: ${answer.status ?? answer.problem ?? 'no answer'}${codes}`] : []
  return [...words, ...(resourceId === undefined ? [] : [mrkdwn`${resourceId}, shown to the person who asked`])]
}

/** Says which rule allowed an act: `by the rule APPROVERS: @oncall`. Returns an empty list if the entry has no rule. */
function ruleWords({ act, rule, via }: AuditEntry): Mrkdwn[] {
  if (rule === undefined) return via === undefined ? [] : [mrkdwn`as ${grantWords({ via })}`]
  const grant = via === undefined ? mrkdwn`${rule}` : grantWords({ rule, via })
  return [mrkdwn`by the rule ${grant}${act === 'break-glass' ? ' (break-glass)' : ''}`]
}
