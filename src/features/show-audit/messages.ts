import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { EventsRead, Resource } from './account/account-events.ts'
import type { Filter } from './filter.ts'
import type { FoundStories } from './find-stories.ts'

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
