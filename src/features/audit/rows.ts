import type { FoundEntry } from '../../audit/audit.ts'
import type { ItemState, RequestState } from '../../domain/request.ts'
import { stateWithCount } from '../../messages/items.ts'
import { itemStateOf } from '../../requests/children.ts'
import { stateOfAct } from '../../requests/steps.ts'
import { option } from '../../slack/blocks.ts'
import { type Columns, itemRows, type Rows } from '../../slack/table.ts'
import {
  capitalised,
  channelMention,
  dateTime,
  joinMrkdwn,
  link,
  type Mrkdwn,
  mention,
  mrkdwn,
  ownWords,
  quotation,
  toPlainText,
} from '../../slack/text.ts'
import { attemptWords, markOf, subjectsOf, timesMore, unverifiedAmong, type WordsOfChanges, whyRefused, wordsOfAct } from './words.ts'

/** The entries about one request, or a single entry that is about none. */
export interface Story {
  requestId: string | undefined
  /** Oldest first. */
  entries: FoundEntry[]
}

/** Groups entries by their requests. The story with the newest entry comes first. */
export function toStories(entries: FoundEntry[]): Story[] {
  const groups = Map.groupBy(
    entries.toSorted((a, b) => a.seq - b.seq),
    ({ requestId, seq }) => requestId ?? seq,
  )
  return [...groups.values()].map((group) => ({ requestId: group[0]?.requestId, entries: group })).toSorted((a, b) => newest(b) - newest(a))
}

function newest({ entries }: Story): number {
  return entries.at(-1)?.seq ?? 0
}

/** Returns the entries that a story is made of: the genuine ones. If there are none, returns the others, which are marked. */
export function trustedEntries({ entries }: Story): FoundEntry[] {
  const genuine = entries.filter(({ verdict }) => verdict === 'genuine')
  return genuine.length > 0 ? genuine : entries
}

export interface Outcome {
  state: RequestState | 'discarded'
  /** The entry that says so. */
  entry: FoundEntry
}

/** Finds the last state of a request. Undefined if no entry that was found says it. */
export function outcomeOf(entries: FoundEntry[]): Outcome | undefined {
  const ofRequest = entries.filter(({ item }) => item === undefined)
  const states = ofRequest.flatMap((entry) => {
    const state = stateIn(entry)
    return state === undefined ? [] : [{ state, entry }]
  })
  return states.at(-1)
}

/** Returns the last state of each item that the entries are about. */
export function itemStatesIn(entries: FoundEntry[]): { state: ItemState }[] {
  const states = new Map<string, ItemState>()
  for (const { item, act } of entries) {
    const state = stateOfAct(act)
    if (item !== undefined && state !== undefined) states.set(item, itemStateOf(state))
  }
  return [...states.values()].map((state) => ({ state }))
}

function stateIn({ act }: FoundEntry): Outcome['state'] | undefined {
  if (act === 'request') return 'waiting'
  return act === 'discard' ? 'discarded' : stateOfAct(act)
}

/** A row of the list: a request, an entry without one, or an event of the account. */
export interface AuditRow {
  /** In ms since 1970. */
  at: number | undefined
  /** The request whose steps can be shown. */
  requestId?: string | undefined
  /** Links the request message, as long as that is known. */
  what: Mrkdwn
  /** What the picker calls it. */
  name?: string
  outcome: string | undefined
  by: Mrkdwn | undefined
  decision?: Mrkdwn | undefined
  notes: Mrkdwn | undefined
  /** The emoji in front of the text. */
  mark: string
}

const columns: Columns<AuditRow> = [
  { header: 'Change', cell: ({ what }) => what },
  { header: 'Outcome', cell: ({ outcome }) => outcome },
  { header: 'When', cell: ({ at }) => (at === undefined ? undefined : dateTime(at)) },
  { header: 'By', cell: ({ by }) => by, before: 'by ', line: 2 },
  { header: 'Decision', cell: ({ decision }) => decision, line: 2 },
  { header: 'Notes', cell: ({ notes }) => notes, line: 3 },
]

/** Makes the rows as text and as a table, newest first, with a picker for the steps of the requests among them. */
export function listedRows(rows: AuditRow[]): Rows {
  const sorted = rows.toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0))
  const listed = itemRows(sorted, { columns, mark: ({ mark }) => ownWords(mark) })
  return { ...listed, choices: { of: 'audited-request', placeholder: 'Steps of a request', options: sorted.map(choiceOf) } }
}

/** Whether this can be the id of a request. A made-up entry can have any id. */
export function isRequestId(id: string): boolean {
  return /^[0-9a-f]{32}$/.test(id)
}

/** Requests can have the same name, so the outcome and the time, in UTC, are below it. */
function choiceOf({ requestId, name, outcome, at }: AuditRow) {
  if (requestId === undefined || !isRequestId(requestId)) return undefined
  const when = at === undefined ? [] : [toPlainText(dateTime(at))]
  const description = [...(outcome === undefined ? [] : [outcome]), ...when].join(' · ')
  return option({ text: `${requestId.slice(0, 8)} ${name ?? ''}`, value: requestId, description })
}

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
