import type { AccountApi } from '../../account/client.ts'
import type { Inventory } from '../../account/inventory.ts'
import type { Audit, Found, FoundEntry } from '../../audit/audit.ts'
import type { AuditEntry } from '../../audit/chain.ts'
import type { AccountEvent } from '../../domain/account.ts'
import type { ChangeKind } from '../../domain/policy.ts'
import type { Request } from '../../domain/request.ts'
import { grantWords, ruleWords } from '../../messages/words.ts'
import type { Store } from '../../requests/store.ts'
import { Refusal } from '../../slack/errors.ts'
import type { Listing } from '../../slack/listing.ts'
import type { Details } from '../../slack/table.ts'
import { channelMention, code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, quotation, userGroupMention } from '../../slack/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { type Chosen, createAccountEvents, type EventsRead, eventRow, type Resource, resourcesOf } from './account-events.ts'
import { type AuditRow, isRequestId, listedRows, type Story, storyRow, toStories, trustedEntries } from './rows.ts'
import {
  attemptWords,
  causesInWords,
  foundWith,
  refusedSentence,
  subjectOf,
  subjectsOf,
  typedActs,
  typedWordOf,
  type WordsOfChanges,
  whyRefused,
  whyUnverified,
  wordsOfAct,
} from './words.ts'

export interface Filter {
  /** Whether all words fit the entry. */
  fits: (entry: AuditEntry) => boolean
  /** The words that are searched as text. They may name a resource. */
  names: string[]
  /** The words as the title shows them. */
  shown: Mrkdwn
}

interface Word {
  /** `text` makes the text of the entry. It is made once for all words, because that takes most of the time of a search. */
  fits: (entry: AuditEntry, text: () => string) => boolean
  shown: Mrkdwn
  /** The resource that the word may name. */
  name?: string
}

/**
 * Reads the words after the command: people (a mention, or `me`), channels, kinds, acts, ids of requests, and any text of an entry. An
 * entry must fit all words. A kind or an act also finds the refused attempts at it.
 */
export function readFilter(words: string[], me: string, catalog: WordsOfChanges): Filter {
  const read = words.map((word) => readWord(word, me, catalog))
  return {
    fits: (entry) => {
      const text = once(() => textOf(entry, catalog))
      return read.every((word) => word.fits(entry, text))
    },
    names: read.flatMap(({ name }) => name ?? []),
    shown: joinMrkdwn(
      read.map(({ shown }) => shown),
      ' ',
    ),
  }
}

function readWord(word: string, me: string, catalog: WordsOfChanges): Word {
  const [, mark, id = '', name] = /^<(@|#|!subteam\^)([A-Z0-9]+)(?:\|[@#]?([^>]*))?>$/.exec(word) ?? []
  // The caption of a table is plain text, where a mention would be an id.
  const named = (sign: string, mentioned: Mrkdwn) => (name ? mrkdwn`${sign}${name}` : mentioned)
  if (mark === '#') return { fits: ({ channelId }) => channelId === id, shown: named('#', channelMention(id)) }
  if (mark === '@') return { fits: ({ by }) => by === id, shown: named('@', mention(id)) }
  if (mark !== undefined) return { fits: (entry) => namesGroup(entry, id), shown: named('@', userGroupMention(id)) }
  const lower = word.toLowerCase()
  if (lower === 'me') return { fits: ({ by }) => by === me, shown: code(lower) }
  const wasTried = (entry: AuditEntry, what: 'kind' | 'action') => foundWith(entry).includes(`${what} ${lower}`)
  if (catalog.kinds().includes(lower)) return { fits: (entry) => entry.kind === lower || wasTried(entry, 'kind'), shown: code(lower) }
  if (typedActs.has(lower))
    return { fits: (entry) => entry.act === lower || typedWordOf(entry.act) === lower || wasTried(entry, 'action'), shown: code(lower) }
  const isIn = matcherOf(lower)
  return { fits: (entry, text) => hasId(entry, word) || isIn(text()), shown: code(word), name: word }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Whether the word is the person's id, or the first 8 or more characters of the request's id or of its hash. */
function hasId({ by, requestId, payload }: AuditEntry, word: string): boolean {
  const startsIt = /^[0-9a-f]{8,}$/i.test(word) && [requestId, payload].some((id) => id?.startsWith(word.toLowerCase()))
  return by === word || startsIt
}

/** Whether an act was allowed to a member of a user group, or denied to somebody who is not a member. */
function namesGroup({ via, causes = [] }: AuditEntry, id: string): boolean {
  return via === id || JSON.stringify(causes).includes(JSON.stringify(id))
}

/** Returns the text that a word is searched in: the entry's members, and the words that show it. */
function textOf(entry: AuditEntry, catalog: WordsOfChanges): string {
  const { kind, resource, facts, rule, via, reason, answer, resourceId, text, to, act, attempted } = entry
  const why =
    entry.act === 'refused'
      ? [mrkdwn`tried ${attemptWords(entry, catalog)}`, ...whyRefused(entry, catalog.labelOf)].map(({ text }) => text)
      : causesInWords(entry, catalog)
  const members = [kind, resource, JSON.stringify(facts), rule, via, reason, JSON.stringify(answer), resourceId, text, to, act, attempted]
  return [...members, subjectOf(entry, catalog), wordsOfAct(entry), ...why].join('\n').toLowerCase()
}

/** Creates a search for a word in a text. A number does not match a part of a longer one: `web-2` does not match `web-21`. */
function matcherOf(word: string): (text: string) => boolean {
  const pattern = new RegExp(`${/^\d/.test(word) ? '(?<!\\d)' : ''}${escapePattern(word)}${/\d$/.test(word) ? '(?!\\d)' : ''}`)
  return (text) => pattern.test(text)
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** The most entries that are searched for. */
const mostFitting = 500

/** The most stories that are shown: about as many as one table can hold with their links and its picker. */
const mostStories = 30

/** The most entries of the stories that are shown. */
const mostEntries = 5_000

/** A request rarely begins more than this many entries before the oldest one that fits. */
const entriesBefore = 5_000

export interface FoundStories extends Omit<Found, 'entries'> {
  /** The story with the newest entry first. */
  stories: Story[]
  /** How many further stories fit. */
  more: number
  /** How many entries are older than those that were searched. */
  older: number
}

/**
 * Finds the newest stories of which an entry fits. A second search finds the other entries of their requests. That search does not stop at
 * any entry, because somebody may have forged an entry to hide older ones.
 */
export async function findStories(audit: Pick<Audit, 'find' | 'size'>, fits: (entry: AuditEntry) => boolean): Promise<FoundStories> {
  const [{ entries: fitting, searched, unreadable, since }, size] = await Promise.all([
    audit.find(fits, { limit: mostFitting }),
    audit.size(),
  ])
  const all = toStories(fitting)
  const shown = all.slice(0, mostStories)
  const ids = new Set(shown.flatMap(({ requestId }) => requestId ?? []))
  const isOfShown = ({ requestId }: AuditEntry) => requestId !== undefined && ids.has(requestId)
  const whole = ids.size > 0 ? await audit.find(isOfShown, { limit: mostEntries, scan: searched + entriesBefore }) : undefined
  const single = shown.filter(({ requestId }) => requestId === undefined)
  return {
    searched,
    unreadable,
    since,
    older: Math.max(0, size - searched),
    stories: toStories([...(whole?.entries ?? []), ...single.flatMap(({ entries }) => entries)]),
    more: all.length - shown.length,
  }
}

/** Says which entries were searched, and counts what is left out. Empty if the audit has no entries. */
export function searchNotes({ searched, unreadable, since, older, more }: Omit<FoundStories, 'stories'>): Mrkdwn[] {
  if (searched + older + unreadable === 0) return []
  const back = since === undefined ? mrkdwn`` : mrkdwn`, back to ${dateTime(since)}`
  const through =
    older === 0
      ? mrkdwn`Searched ${searched === 1 ? '1 entry' : `all ${count(searched)} entries`}${back}.`
      : mrkdwn`Searched the newest ${count(searched)} entries${back}. ${count(older)} older ones weren't searched.`
  const cut = more > 0 ? mrkdwn` Only the newest are shown, and ${count(more)} more match: add words to see them.` : mrkdwn``
  const broken =
    unreadable > 0
      ? mrkdwn` *${count(unreadable)} of them can't be read.* The people who run Lockkeeper can check them with ${code('npm run audit:verify')}.`
      : mrkdwn``
  return [mrkdwn`${through}${cut}${broken} A request has an entry for each of its steps.`]
}

/** Says which words filter the list. The first kind of change is the example. */
export function filterNote([kind]: ChangeKind[]): Mrkdwn {
  const example = kind === undefined ? mrkdwn`` : mrkdwn` (${code(kind)})`
  return mrkdwn`Filter by a person (a mention, or ${code('me')}), a channel, a kind${example}, an action (${code('approve')}, ${code('refused')}), the first 8 characters of a request's id, an address, a name or an id. Only requests with a step that has all of these words are listed. With words for up to three servers, addresses or keys, what the account itself recorded for them is shown too.`
}

/** Says for which resources the account's own events are shown, and which of them could not be read. */
export function eventsNotes({ events, read, full, unread }: EventsRead, since: number): Mrkdwn[] {
  const withEvents = new Set(events.map(({ target }) => target?.id))
  const shown = read.filter(({ targetId }) => withEvents.has(targetId))
  const quiet = read.filter(({ targetId }) => !withEvents.has(targetId))
  const sentences = [...new Set(unread.map(({ sentence }) => sentence))]
  return [
    ...(quiet.length > 0 ? [mrkdwn`The account has no events for ${codes(namesOf(quiet))} since ${dateTime(since)}.`] : []),
    ...(shown.length > 0 ? [eventsNote(namesOf(shown), since, namesOf(full))] : []),
    ...sentences.map((one) =>
      unreadableEvents(namesOf(unread.filter(({ sentence }) => sentence === one).map(({ resource }) => resource)), one),
    ),
  ]
}

function namesOf(resources: Resource[]): string[] {
  return resources.map(({ name }) => name).toSorted()
}

function eventsNote(names: string[], since: number, fullNames: string[]): Mrkdwn {
  const cut = fullNames.length > 0 ? mrkdwn` Of ${codes(fullNames)} only the newest 100.` : mrkdwn``
  return mrkdwn`Also searched the account's own events for ${codes(names)} since ${dateTime(since)}.${cut}`
}

function unreadableEvents(names: string[], sentence: string): Mrkdwn {
  return mrkdwn`:warning: Couldn't read the account's own events for ${codes(names)}. ${sentence}`
}

/** Says for how many resources the account's own events are not shown. Empty if there are none. */
export function resourcesLeftOut(more: number): Mrkdwn[] {
  if (more === 0) return []
  const resources = more === 1 ? '1 resource' : `${count(more)} resources`
  return [mrkdwn`The account's own events for ${resources} aren't shown: add an address, a name or an id to see them.`]
}

function codes(names: string[]): Mrkdwn {
  return joinMrkdwn(names.map(code), ', ')
}

interface Counts {
  requests: number
  /** Entries that belong to no request. */
  others: number
  events: number
}

/** Says how many of each are listed: `Audit: 3 requests, 1 other entry and 2 events of the account`. */
export function title({ requests, others, events }: Counts, filter: Mrkdwn | undefined): Mrkdwn {
  const parts = [
    ...(requests > 0 || others + events === 0 ? [`${requests} ${requests === 1 ? 'request' : 'requests'}`] : []),
    ...(others > 0 ? [`${others} other ${others === 1 ? 'entry' : 'entries'}`] : []),
    ...(events > 0 ? [`${events} ${events === 1 ? 'event' : 'events'} of the account`] : []),
  ]
  const listed = parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : `${parts[0]}`
  return mrkdwn`Audit: ${listed}${filter === undefined ? mrkdwn`` : mrkdwn` matching ${filter}`}, newest first`
}

/** Says that nothing was found. The words are compared with texts, which have no dates. */
export function nothing(filter: Pick<Filter, 'shown' | 'names'> | undefined): Mrkdwn {
  if (filter === undefined) return mrkdwn`The audit has no entries yet.`
  const todo = filter.names.some(isDate)
    ? mrkdwn`Dates can't be searched. Leave the date out, and use the filter below the table.`
    : mrkdwn`Use fewer or other words.`
  return joinMrkdwn([mrkdwn`No entry matches ${filter.shown}.`, todo, ...personTip(filter)], ' ')
}

/** Says how to find a person, if a word can be a name. People are in the audit by their ids, so a name finds only texts that contain it. */
export function personTip({ names }: Pick<Filter, 'names'>): Mrkdwn[] {
  const canBeName = names.some((name) => /\p{L}/u.test(name) && !isDate(name))
  return canBeName ? [mrkdwn`To find a person, mention them with ${code('@')}, or type ${code('me')}.`] : []
}

function isDate(word: string): boolean {
  return /^(\d{4}-\d{2}-\d{2}|today|yesterday)$/i.test(word)
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}

/**
 * Runs one piece of work at a time for each person in this process, so that nobody can fill it with searches. Throws a Refusal while the
 * person's last one is running.
 */
export function createOneAtATime() {
  const busy = new Set<string>()

  return async function runAlone<T>(userId: string, work: () => Promise<T>): Promise<T> {
    if (busy.has(userId)) throw new Refusal(mrkdwn`Your last search of the audit is still running. Search again when its result is here.`)
    busy.add(userId)
    try {
      return await work()
    } finally {
      busy.delete(userId)
    }
  }
}

type Step = Details['facts'][number]

interface StepParts {
  /** The subject of the request. An entry with another subject names it. */
  subject: string
  catalog: WordsOfChanges
}

/** Shows an entry as a step of its request. */
export function stepOf(entry: FoundEntry, { subject, catalog }: StepParts): Step {
  const why = whyUnverified(entry)
  const sentence = entry.act === 'refused' ? refusedSentence(entry, subject, catalog) : whoAndWhen(entry)
  const own = subjectOf(entry, catalog)
  const about = own === undefined || own === subject ? [] : [mrkdwn`about ${quotation(own)}`]
  return {
    label: `${why === undefined ? '' : `:warning: *Unverified* (${why}): `}${wordsOfAct(entry)}`,
    words: joinMrkdwn([sentence, ...about, ...reasonsIn(entry, catalog)], '  ·  '),
  }
}

function whoAndWhen({ by, at }: AuditEntry): Mrkdwn {
  return by === undefined ? dateTime(at) : mrkdwn`${mention(by)}, ${dateTime(at)}`
}

/** Lists the rule, the reason, the account's answer and the causes. */
function reasonsIn(entry: AuditEntry, catalog: WordsOfChanges): Mrkdwn[] {
  const { act, reason, text } = entry
  return [
    ...allowedBy(entry),
    ...(reason === undefined ? [] : [mrkdwn`reason: ${code(reason)}`]),
    ...answerWords(entry),
    ...(act === 'refused' ? [] : [...causesInWords(entry, catalog), ...(text ? [text] : [])].map((words) => mrkdwn`${words}`)),
  ]
}

/** Shows the account's answer (`account API: move accepted (202)`), and the id of a new key. */
function answerWords({ answer, resourceId }: AuditEntry): Mrkdwn[] {
  const words = answer ? [mrkdwn`account API: ${outcomeOf(answer)}`] : []
  return [...words, ...(resourceId === undefined ? [] : [mrkdwn`${resourceId}, shown to the requester`])]
}

function outcomeOf({ operation, status, problem, codes = [] }: NonNullable<AuditEntry['answer']>): string {
  // Operations are called `elasticIps.move`.
  const write = operation.split('.').at(-1) ?? operation
  if (status === undefined) return `no answer to the ${write}${problem === undefined ? '' : ` (${problem})`}`
  return `${write} ${status < 400 ? 'accepted' : 'refused'} (${[status, ...codes].join(', ')})`
}

/** Says which rule allowed an act: `rule “production”: @oncall`. Returns an empty list if the entry has no rule. */
function allowedBy({ rule, via }: AuditEntry): Mrkdwn[] {
  if (rule === undefined) return via === undefined ? [] : [mrkdwn`as ${grantWords({ via })}`]
  return [via === undefined ? ruleWords(rule) : grantWords({ rule, via })]
}

/** The most refused attempts, and the most unverified entries, among the steps. Otherwise many of them could push out the real steps. */
const mostOfKind = 10

/** Shows the steps of a request in their order, each with the account's answer. */
export function requestDetails(story: Story, catalog: WordsOfChanges): Details {
  const [subject = 'A request without a description'] = subjectsOf(trustedEntries(story), catalog)
  const refused = story.entries.filter(({ act, verdict }) => act === 'refused' && verdict === 'genuine').slice(mostOfKind)
  const unverified = story.entries.filter(({ verdict }) => verdict !== 'genuine').slice(mostOfKind)
  const early = earlyStepsOfItems(story.entries)
  const hidden = new Set([...refused, ...unverified, ...early])
  const shown = story.entries.filter((entry) => !hidden.has(entry))
  const facts = shown.map((entry) => stepOf(entry, { subject, catalog }))
  const more = [
    ...notShown(refused, 'refused attempts'),
    ...notShown(unverified, 'unverified entries'),
    ...notShown(early, 'earlier steps of the single changes'),
  ]
  return { title: quotation(subject), facts, notes: [whereabouts(story), ...more], name: subject }
}

/** Finds the steps of items that a later step of the same item follows. Fifty items with three steps each would not fit into one message. */
function earlyStepsOfItems(entries: FoundEntry[]): FoundEntry[] {
  const ofItems = entries.filter(({ item, verdict }) => item !== undefined && verdict === 'genuine')
  const last = new Map(ofItems.map((entry) => [entry.item, entry]))
  return ofItems.filter((entry) => last.get(entry.item) !== entry)
}

function notShown({ length }: FoundEntry[], what: string): Mrkdwn[] {
  return length > 0 ? [mrkdwn`${length} more ${what} aren't shown.`] : []
}

function whereabouts(story: Story): Mrkdwn {
  const channelId = trustedEntries(story).find((entry) => entry.channelId)?.channelId
  const place = channelId === undefined ? [] : [mrkdwn`in ${channelMention(channelId)}`]
  return joinMrkdwn([mrkdwn`Request ${code(story.requestId ?? 'unknown')}`, ...place], ' ')
}

interface RowParts {
  events: AccountEvent[]
  /** The addresses of the request messages, by the ids of the requests. */
  addresses: Map<string, string | undefined>
  catalog: WordsOfChanges
}

/** Makes the rows of stories and of the account's events. */
export function auditRows(stories: Story[], { events, addresses, catalog }: RowParts): AuditRow[] {
  return [...stories.map((story) => storyRow(story, { address: addresses.get(story.requestId ?? ''), catalog })), ...events.map(eventRow)]
}

/** Events are read from a day before the oldest entry, because they may be the reason for the request. */
const dayMs = 24 * 3_600_000

/** How far back events are read if no entry fits. */
const withoutEntriesMs = 30 * dayMs

/** The most entries of one request that are read. */
const mostEntriesShowAudit = 5_000

interface ShowAuditParts {
  audit: Pick<Audit, 'find' | 'size'>
  accountApi: Pick<AccountApi, 'events'>
  inventory: Pick<Inventory, 'elasticIps' | 'virtualMachines'>
  store: Pick<Store, 'findMany'>
  catalog: WordsOfChanges
  linkTo: (request: Request) => string | undefined
}

/** `/infra audit`: shows who requested, approved, rejected and did what, together with the account's own events of the same resources. */
export const showAudit = { create } satisfies FeatureDefinition

function create({ audit, accountApi, inventory, store, catalog, linkTo }: ShowAuditParts): Feature {
  const accountEvents = createAccountEvents({ accountApi, inventory })
  const runAlone = createOneAtATime()

  async function listingFor(words: string[], me: string): Promise<Listing> {
    const filter = readFilter(words, me, catalog)
    const found = await findStories(audit, filter.fits)
    if (words.length === 0) return toListing(found, { filter: undefined, events: [], notes: [filterNote(catalog.kinds())] })
    const { resources, more } = await resourcesFor(found.stories, filter)
    const left = resourcesLeftOut(more)
    if (resources.length === 0) return toListing(found, { filter, events: [], notes: left })
    const oldest = oldestIn(found.stories)
    const since = oldest === undefined ? Date.now() - withoutEntriesMs : oldest - dayMs
    const read = await accountEvents.readEvents(resources, new Date(since))
    return toListing(found, { filter, events: read.events, notes: [...eventsNotes(read, since), ...left] })
  }

  /** For a request with several items, only the items that were searched for count. */
  async function resourcesFor(stories: Story[], { names, fits }: Filter): Promise<Chosen> {
    const entries = stories.flatMap((story) => story.entries).filter((entry) => entry.item === undefined || fits(entry))
    const chosen = resourcesOf(entries, { names, catalog })
    return chosen.resources.length + chosen.more > 0 ? chosen : accountEvents.findResources(names)
  }

  async function toListing({ stories, ...search }: FoundStories, { filter, events, notes }: ListingParts): Promise<Listing> {
    const rows = auditRows(stories, { events, addresses: await addressesOf(stories), catalog })
    const requests = stories.filter(({ requestId }) => requestId !== undefined).length
    const counts = { requests, others: stories.length - requests, events: rows.length - stories.length }
    return {
      title: title(counts, filter?.shown),
      ...listedRows(rows),
      empty: nothing(filter),
      // Without a row, `nothing` has the tip.
      notes: [...notes, ...searchNotes(search), ...(filter && rows.length > 0 ? personTip(filter) : [])],
    }
  }

  /** Finds the addresses of the request messages, as long as their requests are kept. */
  async function addressesOf(stories: Story[]): Promise<Map<string, string | undefined>> {
    const ids = stories.flatMap(({ requestId }) => (requestId !== undefined && isRequestId(requestId) ? [requestId] : []))
    const requests = ids.length > 0 ? await store.findMany(ids) : []
    return new Map(requests.map((request) => [request.id, linkTo(request)]))
  }

  async function readSteps(requestId: string): Promise<Details | undefined> {
    if (!isRequestId(requestId)) return undefined
    const { entries } = await audit.find((entry) => entry.requestId === requestId, { limit: mostEntriesShowAudit })
    const story: Story = { requestId, entries: entries.toSorted((a, b) => a.seq - b.seq) }
    return entries.length > 0 ? requestDetails(story, catalog) : undefined
  }

  return {
    commands: [
      {
        words: 'audit',
        usage: '[word…]',
        group: 'View',
        summary: 'Each request with its requester, decision and outcome',
        details: mrkdwn`Newest first, with the steps of each request on demand. Words filter by person (a mention, or ${code('me')}), channel, kind of change, action (${code('approve')}), address, name or id. All of them must match one entry of a request. For at most three resources, the account's own events are shown too.`,
        examples: ['203.0.113.10', 'me'],
        takesMentions: true,
        need: 'read',
        run: async (call) => {
          const { userId } = call.slashCommand.origin
          await call.list(await runAlone(userId, () => listingFor(call.args, userId)))
        },
      },
    ],
    details: { 'audited-request': (id, { userId }) => runAlone(userId, () => readSteps(id)) },
  }
}

interface ListingParts {
  filter: Filter | undefined
  events: AccountEvent[]
  notes: Mrkdwn[]
}

/** Returns when the first of the entries was noted, in ms since 1970. */
function oldestIn(stories: Story[]): number | undefined {
  const times = stories.flatMap(({ entries }) => entries.map(({ at }) => at))
  return times.length > 0 ? times.reduce((a, b) => Math.min(a, b)) : undefined
}
