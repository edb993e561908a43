import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import type { Found } from '../../audit/find-entries.ts'
import type { Audit } from '../../audit/intake.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import { code, mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { createAccountEvents, type EventsRead, type Resource, resourcesOf } from './account/account-events.ts'
import { matchEvents } from './account/match-events.ts'
import { isAboutWrite } from './account/own-writes.ts'
import type { WordsOfChanges } from './entry-words.ts'
import { type Filter, readFilter } from './filter.ts'
import { eventsNote, filterNote, nothing, searchNote, title, tooManyResources, unreadableEvents } from './messages.ts'
import { createOneAtATime } from './one-at-a-time.ts'
import { auditRows } from './rows.ts'

/** The most entries that are shown. */
const mostEntries = 200

/** Events are read from a day before the oldest entry, because they may be the reason for the request. */
const dayMs = 24 * 3_600_000

/** How far back events are read if no entry fits. */
const withoutEntriesMs = 30 * dayMs

interface ShowAuditParts {
  audit: Pick<Audit, 'find'>
  accountApi: Pick<AccountApi, 'events'>
  inventory: Pick<Inventory, 'elasticIps' | 'virtualMachines'>
  catalog: WordsOfChanges
}

/** `/infra audit`: shows who requested, approved, rejected and did what, together with the account's own events of the same resources. */
export const showAudit = { create } satisfies FeatureDefinition

function create({ audit, accountApi, inventory, catalog }: ShowAuditParts): Feature {
  const accountEvents = createAccountEvents({ accountApi, inventory })
  const runAlone = createOneAtATime()

  async function listingFor(words: string[], me: string): Promise<Listing> {
    const filter = readFilter(words, me, catalog)
    const found = await audit.find(filter.fits, { limit: mostEntries })
    if (words.length === 0) return plainListing(found, undefined, catalog, [filterNote(catalog.kinds())])
    const resources = resourcesOf(found.entries, filter.names)
    const chosen = resources?.length ? resources : await accountEvents.findResources(filter.names)
    if (chosen.length === 0) return plainListing(found, filter, catalog, resources === undefined ? [tooManyResources] : [])
    return listingWithEvents(found, filter, chosen)
  }

  async function listingWithEvents(found: Found, filter: Filter, resources: Resource[]): Promise<Listing> {
    const oldest = found.entries.at(-1)?.at
    const since = oldest === undefined ? Date.now() - withoutEntriesMs : oldest - dayMs
    const ids = new Set(resources.map(({ targetId }) => targetId))
    // Read all writes, also those that the words leave out. Otherwise their events would be shown as made outside.
    const [read, writes] = await Promise.all([
      accountEvents.readEvents(resources, new Date(since)),
      audit.find((entry) => isAboutWrite(entry, ids), { limit: 5_000, onlyGenuine: true }),
    ])
    const events = matchEvents(read.events, writes.entries, writes.all ? undefined : writes.since, catalog)
    const listing = plainListing(found, filter, catalog, eventsNotes(read, since))
    return {
      ...listing,
      title: title(found.entries.length, events.length, filter.shown),
      rows: auditRows(found.entries, events, catalog),
    }
  }

  return {
    commands: [
      {
        words: 'audit',
        usage: '[word…]',
        group: 'Look',
        summary: 'Who requested, approved, rejected and did what',
        details: mrkdwn`Newest first. Words filter by person (a mention, or ${code('me')}), channel, kind of change, act (${code('approve')}), address, name or id. All of them must match. For at most three resources, the account's own events are shown too.`,
        examples: ['203.0.113.10', 'me'],
        takesMentions: true,
        need: 'read',
        run: async (call) => {
          const { userId } = call.slashCommand.origin
          await call.list(await runAlone(userId, () => listingFor(call.args, userId)))
        },
      },
    ],
  }
}

function plainListing(found: Found, filter: Filter | undefined, catalog: WordsOfChanges, notes: Listing['notes'] = []): Listing {
  const { entries } = found
  const full = entries.length >= mostEntries
  return {
    title: title(entries.length, 0, filter?.shown),
    rows: auditRows(entries, [], catalog),
    empty: nothing(filter?.shown),
    notes: [...notes, searchNote({ ...found, full }, entries.length)],
  }
}

function eventsNotes({ read, full, unread }: EventsRead, since: number): NonNullable<Listing['notes']> {
  const names = (resources: Resource[]) => resources.map(({ name }) => name).toSorted()
  const sentences = [...new Set(unread.map(({ sentence }) => sentence))]
  return [
    ...(read.length > 0 ? [eventsNote(names(read), since, names(full))] : []),
    ...sentences.map((one) =>
      unreadableEvents(names(unread.filter(({ sentence }) => sentence === one).map(({ resource }) => resource)), one),
    ),
  ]
}
