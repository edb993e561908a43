import type { FoundEntry } from '../../audit/find.ts'
import type { ItemState, RequestState } from '../../domain/request.ts'
import { stateWithCount } from '../../messages/items.ts'
import { grantWords, ruleWords } from '../../messages/request-words.ts'
import { itemStateOf } from '../../record/children.ts'
import { stateOfAct } from '../../record/steps.ts'
import { option } from '../../slack/blocks.ts'
import { type Columns, type Details, itemRows, type Rows } from '../../slack/table.ts'
import {
  capitalised,
  channelMention,
  code,
  dateTime,
  exactTime,
  joinMrkdwn,
  link,
  type Mrkdwn,
  mention,
  mrkdwn,
  quotation,
  toPlainText,
} from '../../slack/text.ts'
import {
  attemptWords,
  causesInWords,
  emergencyWords,
  refusedSentence,
  subjectOf,
  unverifiedAmong,
  type WordsOfChanges,
  whyRefused,
  whyUnverified,
  wordsOfAct,
} from './entry-words.ts'
import type { Story } from './stories.ts'

/** A row of the list: a request, or an entry without one. */
interface AuditRow {
  at?: number
  requestId?: string
  /** Links the request message, as long as that is known. */
  what: Mrkdwn
  name?: string
  outcome?: string
  by?: Mrkdwn
  decision?: Mrkdwn
  notes?: Mrkdwn
}

const columns: Columns<AuditRow> = [
  { header: 'Change', cell: ({ what }) => what },
  { header: 'Outcome', cell: ({ outcome }) => outcome },
  { header: 'When', cell: ({ at }) => (at === undefined ? undefined : dateTime(at)) },
  { header: 'By', cell: ({ by }) => by },
  { header: 'Decision', cell: ({ decision }) => decision },
  { header: 'Notes', cell: ({ notes }) => notes },
]

export function listedRows(rows: AuditRow[]): Rows {
  const sorted = rows.toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0))
  const listed = itemRows(sorted, { columns })
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

/** Shows a request, or an entry without one, in one row: who did what, with which outcome. The steps are in its details. */
export function storyRow(story: Story, address: string | undefined, catalog: WordsOfChanges): AuditRow {
  const entries = trustedEntries(story)
  const outcome = outcomeOf(entries)
  const unverified = unverifiedAmong(story.entries)
  const last = outcome?.[1] ?? entries.at(-1)
  const by = (story.requestId === undefined ? entries[0] : entries.find(({ act }) => act === 'request'))?.by
  const isMadeUp = !entries.some(({ verdict }) => verdict === 'genuine')
  const what = whatIn(story, entries, catalog, unverified === undefined)
  const named = unverified === undefined ? what : mrkdwn`Unverified (${unverified}): ${what}`
  return {
    at: last?.at,
    requestId: story.requestId,
    what: address === undefined ? named : link(address, toPlainText(named)),
    name: toPlainText(what),
    outcome: isMadeUp ? 'Unverified' : outcomeWords(story, entries, outcome?.[0]),
    by: by === undefined ? byItself(story, entries) : isForOwner(entries) ? mrkdwn`for ${mention(by)}` : mention(by),
    decision: isMadeUp ? undefined : decisionIn(entries),
    notes: notesOn(story, entries, catalog),
  }
}

/** An entry without a request and without a person is Lockkeeper's own act. */
function byItself({ requestId }: Story, [entry]: FoundEntry[]): Mrkdwn | undefined {
  return requestId === undefined && entry?.verdict === 'genuine' && entry.act !== 'unreadable' ? mrkdwn`Lockkeeper` : undefined
}

/** An operator trusts a passkey on the server, where nobody is known: its entry names the owner. */
function isForOwner([entry]: FoundEntry[]): boolean {
  return entry?.act === 'passkey-trust'
}

/** Returns the entries that a story is made of: the genuine ones. If there are none, returns the others, which are marked. */
function trustedEntries({ entries }: Story): FoundEntry[] {
  const genuine = entries.filter(({ verdict }) => verdict === 'genuine')
  return genuine.length > 0 ? genuine : entries
}

type Outcome = [state: RequestState | 'discarded', entry: FoundEntry]

/** Finds the last state of a request. Undefined if no entry that was found says it. */
function outcomeOf(entries: FoundEntry[]): Outcome | undefined {
  const states = entries.flatMap((entry): Outcome[] => {
    const state = entry.act === 'request' ? 'waiting' : entry.act === 'discard' ? 'discarded' : stateOfAct(entry.act)
    return state === undefined || entry.item !== undefined ? [] : [[state, entry]]
  })
  return states.at(-1)
}

function subjectIn(entries: FoundEntry[], catalog: WordsOfChanges): string | undefined {
  return entries.map((entry) => subjectOf(entry, catalog)).find((words) => words !== undefined)
}

const untitled = 'A request without a description'

/** A made-up entry can say anything, so it is quoted. */
function whatIn({ requestId }: Story, entries: FoundEntry[], catalog: WordsOfChanges, isTrusted: boolean): Mrkdwn {
  const [entry] = entries
  const said = subjectIn(entries, catalog)
  const subject = said === undefined ? undefined : isTrusted ? mrkdwn`${said}` : quotation(said)
  if (entry === undefined || requestId !== undefined) return subject ?? mrkdwn`${untitled}`
  if (entry.act === 'refused') return mrkdwn`Tried ${attemptWords(entry, catalog)}`
  return subject === undefined ? mrkdwn`${wordsOfAct(entry)}` : mrkdwn`${wordsOfAct(entry)}: ${subject}`
}

function outcomeWords({ requestId }: Story, entries: FoundEntry[], state: Outcome[0] | undefined): string | undefined {
  if (requestId === undefined) {
    return entries[0]?.act === 'refused' ? 'Refused' : undefined
  }
  if (state === undefined) return undefined
  if (state === 'discarded') return 'Not posted'
  // Before the end, the entries do not cover every item.
  return capitalised(stateWithCount({ state, items: state === 'failed' ? itemStatesIn(entries) : [] }))
}

function itemStatesIn(entries: FoundEntry[]): { state: ItemState }[] {
  const states = new Map<string, ItemState>()
  for (const { item, act } of entries) {
    const state = stateOfAct(act)
    if (item !== undefined && state !== undefined) states.set(item, itemStateOf(state))
  }
  return [...states.values()].map((state) => ({ state }))
}

/** ` by @Ada and @Ben (emergency)`. Empty if no entry names anybody. */
function byWhom(entries: FoundEntry[]): Mrkdwn {
  const people = [...new Set(entries.flatMap(({ by }) => by ?? []))]
  const inEmergency = new Set(entries.filter(isEmergency).map(({ by }) => by))
  const named = people.map((id) => mrkdwn`${mention(id)}${inEmergency.has(id) ? ' (emergency)' : ''}`)
  return named.length === 0 ? mrkdwn`` : mrkdwn` by ${joinMrkdwn(named, ' and ')}`
}

function decisionIn(entries: FoundEntry[]): Mrkdwn | undefined {
  const said = (words: string, acts: string[], after = '') => {
    const of = entries.filter(({ act, by }) => acts.includes(act) && by)
    return of.length > 0 ? [mrkdwn`${words}${byWhom(of)}${after}`] : []
  }
  return joined(
    [
      ...said('approved', ['approve', 'count-approval']),
      ...said('approved', ['break-glass'], ' alone (emergency)'),
      ...said('rejected', ['reject']),
      ...(entries.some(({ act }) => act === 'exempt') ? [mrkdwn`no approval needed`] : []),
    ],
    ', ',
  )
}

function isEmergency({ act, passed }: FoundEntry): boolean {
  return act !== 'break-glass' && passed !== undefined
}

function notesOn({ requestId }: Story, entries: FoundEntry[], catalog: WordsOfChanges): Mrkdwn | undefined {
  const refused = entries.filter(({ act }) => act === 'refused')
  const once = refused.slice(0, 1).map(() => mrkdwn`noted once in 10 min`)
  if (requestId === undefined)
    return joined([...refused.flatMap(whyRefused), ...once, ...entries.flatMap((entry) => freezeNotes(entry, catalog))])
  const attempts = refused.length
  const reasons = new Set(refused.map((entry) => joined(whyRefused(entry))?.text))
  const [why] = refused.flatMap(whyRefused)
  const has = (wanted: string) => entries.some(({ act }) => act === wanted)
  const isUnsent = ({ act, item }: FoundEntry) => item === undefined && ['discard', 'drop', 'not-start'].includes(act)
  const whyUnsent = entries.filter(isUnsent).flatMap((entry) => causesInWords(entry, catalog))
  return joined([
    ...(has('distrust') ? [mrkdwn`its record can't be trusted`] : []),
    ...whyUnsent.map((why) => mrkdwn`${why}`),
    ...(attempts > 0
      ? [
          mrkdwn`${attempts.toLocaleString('en-US')} refused ${attempts === 1 ? 'attempt' : 'attempts'}${byWhom(refused)}${why && reasons.size === 1 ? mrkdwn`: ${why}` : ''}`,
        ]
      : []),
    ...(has('request') ? [] : [mrkdwn`its first entry wasn't found`]),
  ])
}

function freezeNotes(entry: FoundEntry, catalog: WordsOfChanges): Mrkdwn[] {
  const { act, from, until, reason } = entry
  if (act !== 'freeze' && act !== 'unfreeze') return []
  return [
    ...(from === undefined ? [] : [mrkdwn`from ${dateTime(from)}`]),
    ...(until === undefined ? [] : [mrkdwn`until ${dateTime(until)}`]),
    ...(reason === undefined ? [] : [mrkdwn`reason: ${code(reason)}`]),
    ...causesInWords(entry, catalog).map((why) => mrkdwn`${why}`),
  ]
}

function joined(parts: Mrkdwn[], separator = '  ·  '): Mrkdwn | undefined {
  return parts.length > 0 ? joinMrkdwn(parts, separator) : undefined
}

/** The most refused attempts, and the most unverified entries, among the steps. Otherwise many of them could push out the real steps. */
const mostOfKind = 10

export function storyDetails({ requestId, entries }: Story, catalog: WordsOfChanges): Details {
  const trusted = trustedEntries({ requestId, entries })
  const subject = subjectIn(trusted, catalog) ?? untitled
  const hidden: [what: string, entries: FoundEntry[]][] = [
    ['refused attempts', entries.filter(({ act, verdict }) => act === 'refused' && verdict === 'genuine').slice(mostOfKind)],
    ['unverified entries', entries.filter(({ verdict }) => verdict !== 'genuine').slice(mostOfKind)],
    ['earlier steps of the single changes', earlyStepsOfItems(entries)],
  ]
  const channelId = trusted.find((entry) => entry.channelId)?.channelId
  return {
    title: quotation(subject),
    facts: entries.filter((entry) => !hidden.some(([, others]) => others.includes(entry))).map((entry) => stepOf(entry, subject, catalog)),
    notes: [
      mrkdwn`Request ${code(requestId ?? 'unknown')}${channelId === undefined ? '' : mrkdwn` in ${channelMention(channelId)}`}`,
      ...hidden.flatMap(([what, { length }]) => (length > 0 ? [mrkdwn`${length} more ${what} aren't shown.`] : [])),
    ],
    name: subject,
  }
}

/** Finds the steps of items that a later step of the same item follows. Fifty items with three steps each would not fit into one message. */
function earlyStepsOfItems(entries: FoundEntry[]): FoundEntry[] {
  const ofItems = entries.filter(({ item, verdict }) => item !== undefined && verdict === 'genuine')
  const last = new Map(ofItems.map((entry) => [entry.item, entry]))
  return ofItems.filter((entry) => last.get(entry.item) !== entry)
}

/** Shows an entry as a step of its request. `subject`: that of the request. An entry with another one names it. */
export function stepOf(entry: FoundEntry, subject: string, catalog: WordsOfChanges): Details['facts'][number] {
  const { act, by, at, reason, text, answer, resourceId } = entry
  const why = whyUnverified(entry)
  const whoAndWhen = by === undefined ? exactTime(at) : mrkdwn`${mention(by)}, ${exactTime(at)}`
  const own = subjectOf(entry, catalog)
  const parts = [
    act === 'refused' ? refusedSentence(entry, subject, catalog) : whoAndWhen,
    ...(own === undefined || own === subject ? [] : [mrkdwn`about ${quotation(own)}`]),
    ...allowedBy(entry),
    ...emergencyWords(entry),
    ...(reason === undefined ? [] : [mrkdwn`reason: ${code(reason)}`]),
    ...(answer ? [mrkdwn`account API: ${answerWords(answer)}`] : []),
    ...(resourceId === undefined ? [] : [mrkdwn`${resourceId}, shown to the requester`]),
    ...(act === 'refused' ? [] : [...causesInWords(entry, catalog), ...(text ? [text] : [])].map((words) => mrkdwn`${words}`)),
  ]
  return {
    label: `${why === undefined ? '' : `:warning: *Unverified* (${why}): `}${wordsOfAct(entry)}`,
    words: joinMrkdwn(parts, '  ·  '),
  }
}

function answerWords({ operation, status, problem, codes = [] }: NonNullable<FoundEntry['answer']>): string {
  // Operations are called `elasticIps.move`.
  const write = operation.split('.').at(-1) ?? operation
  if (status === undefined) return `no answer to the ${write} (${problem ?? 'unknown'})`
  return `${write} ${status < 400 ? 'accepted' : 'refused'} (${[status, ...codes].join(', ')})`
}

function allowedBy({ rule, via }: FoundEntry): Mrkdwn[] {
  if (via !== undefined) return [rule === undefined ? mrkdwn`as ${grantWords({ via })}` : grantWords({ rule, via })]
  return rule === undefined ? [] : [ruleWords(rule)]
}
