import type { FoundEntry } from '../../audit/find-entries.ts'
import { stateWithCount } from '../../requests/messages/items/items.ts'
import { capitalised } from '../../slack/text/capitalised.ts'
import { channelMention, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn, quotation, toPlainText } from '../../slack/text/text.ts'
import type { AuditRow } from './audit-row.ts'
import { itemStatesIn, type Outcome, outcomeOf, type Story, trustedEntries } from './story.ts'
import { markOf, wordsOfAct } from './words/act-words.ts'
import { subjectsOf, type WordsOfChanges } from './words/entry-words.ts'
import { attemptWords, timesMore, whyRefused } from './words/refused.ts'
import { unverifiedAmong } from './words/unverified.ts'

interface Beside {
  /** The address of the request message. */
  address: string | undefined
  catalog: WordsOfChanges
}

/** Shows a request, or an entry without one, in one row: who did what, with which outcome. The steps are in its details. */
export function storyRow(story: Story, { address, catalog }: Beside): AuditRow {
  const entries = trustedEntries(story)
  const outcome = outcomeOf(entries)
  const unverified = unverifiedAmong(story.entries)
  const last = outcome?.entry ?? entries.at(-1)
  const isMadeUp = !entries.some(({ verdict }) => verdict === 'genuine')
  const what = whatIn(story, entries, { catalog, isTrusted: unverified === undefined })
  const named = unverified === undefined ? what : mrkdwn`Unverified (${unverified}): ${what}`
  return {
    at: last?.at,
    requestId: story.requestId,
    what: address === undefined ? named : link(address, toPlainText(named)),
    name: toPlainText(what),
    outcome: isMadeUp ? 'Unverified' : outcomeWords(story, entries, outcome),
    by: requesterIn(story, entries),
    decision: isMadeUp ? undefined : decisionIn(entries),
    notes: notesOn(story, entries, catalog),
    mark: unverified !== undefined || last === undefined ? ':warning:' : markOf(last),
  }
}

/**
 * Says what was requested. For an entry without a request: what somebody tried, or what Lockkeeper did. A made-up entry can say anything, so
 * it is quoted.
 */
function whatIn(
  { requestId }: Story,
  entries: FoundEntry[],
  { catalog, isTrusted }: { catalog: WordsOfChanges; isTrusted: boolean },
): Mrkdwn {
  const [entry] = entries
  const [subject] = subjectsOf(entries, catalog).map((one) => (isTrusted ? mrkdwn`${one}` : quotation(one)))
  if (entry === undefined || requestId !== undefined) return subject ?? mrkdwn`A request without a description`
  if (entry.act === 'refused') return mrkdwn`Tried ${attemptWords(entry, catalog)}`
  return subject === undefined ? mrkdwn`${wordsOfAct(entry)}` : mrkdwn`${wordsOfAct(entry)}: ${subject}`
}

function outcomeWords({ requestId }: Story, entries: FoundEntry[], outcome: Outcome | undefined): string | undefined {
  if (requestId === undefined) return entries[0]?.act === 'refused' ? refusedWords(entries[0]) : undefined
  if (outcome === undefined) return undefined
  if (outcome.state === 'discarded') return 'Not posted'
  // Before the end, the entries do not cover every item.
  const items = outcome.state === 'failed' ? itemStatesIn(entries) : []
  return capitalised(stateWithCount({ state: outcome.state, items }))
}

function refusedWords({ count }: FoundEntry): string {
  return count === undefined ? 'Refused' : `Refused ${timesMore(count)}`
}

function requesterIn({ requestId }: Story, entries: FoundEntry[]): Mrkdwn | undefined {
  const by = requestId === undefined ? entries[0]?.by : entries.find(({ act }) => act === 'request')?.by
  return by === undefined ? undefined : mention(by)
}

/** Says who approved or rejected it: `approved by @ben and @chi`. */
function decisionIn(entries: FoundEntry[]): Mrkdwn | undefined {
  const peopleWho = (...acts: string[]) => [...new Set(entries.flatMap(({ act, by }) => (acts.includes(act) && by ? [by] : [])))]
  const said = (words: string, people: string[], after = '') =>
    people.length > 0 ? [mrkdwn`${words} by ${joinMrkdwn(people.map(mention), ' and ')}${after}`] : []
  const parts = [
    ...said('approved', peopleWho('approve', 'count-approval')),
    ...said('approved', peopleWho('break-glass'), ' alone (break-glass)'),
    ...said('rejected', peopleWho('reject')),
    ...(entries.some(({ act }) => act === 'exempt') ? [mrkdwn`no approval needed`] : []),
  ]
  return parts.length > 0 ? joinMrkdwn(parts, ', ') : undefined
}

function notesOn({ requestId }: Story, entries: FoundEntry[], catalog: WordsOfChanges): Mrkdwn | undefined {
  const refused = entries.filter(({ act }) => act === 'refused')
  const attempts = refused.reduce((sum, { count = 1 }) => sum + count, 0)
  const notes =
    requestId === undefined
      ? refused.flatMap((entry) => whyRefused(entry, catalog.labelOf))
      : [
          ...(entries.some(({ act }) => act === 'distrust') ? [mrkdwn`its record can't be trusted`] : []),
          ...entries.filter(({ act }) => act === 'discard').flatMap(whyNotPosted),
          ...(attempts > 0
            ? [mrkdwn`${attempts === 1 ? '1 refused attempt' : `${attempts.toLocaleString('en-US')} refused attempts`}`]
            : []),
          ...(entries.some(({ act }) => act === 'request') ? [] : [mrkdwn`its first entry wasn't found`]),
        ]
  return notes.length > 0 ? joinMrkdwn(notes, '  ·  ') : undefined
}

/** Says why Slack refused the request message. */
function whyNotPosted({ causes = [], channelId }: FoundEntry): Mrkdwn[] {
  const where = channelId === undefined ? mrkdwn`the channel` : channelMention(channelId)
  return causes.map(({ error }) =>
    error === 'not_in_channel' || error === 'channel_not_found'
      ? mrkdwn`Lockkeeper wasn't in ${where}`
      : mrkdwn`Slack refused the message${typeof error === 'string' ? ` (${error})` : ''}`,
  )
}
