import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import type { Audit } from '../../audit/intake.ts'
import type { AccountEvent } from '../../domain/account/account-event.ts'
import type { Request } from '../../domain/request/request.ts'
import type { Store } from '../../requests/store/store.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import type { Details } from '../../slack/lists/details.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { type Chosen, createAccountEvents, resourcesOf } from './account/account-events.ts'
import { isRequestId, listedRows } from './audit-row.ts'
import { type Filter, readFilter } from './filter.ts'
import { type FoundStories, findStories } from './find-stories.ts'
import { eventsNotes, filterNote, nothing, personTip, resourcesLeftOut, searchNotes, title } from './messages.ts'
import { createOneAtATime } from './one-at-a-time.ts'
import { requestDetails } from './request-details.ts'
import { auditRows } from './rows.ts'
import type { Story } from './story.ts'
import type { WordsOfChanges } from './words/entry-words.ts'

/** Events are read from a day before the oldest entry, because they may be the reason for the request. */
const dayMs = 24 * 3_600_000

/** How far back events are read if no entry fits. */
const withoutEntriesMs = 30 * dayMs

/** The most entries of one request that are read. */
const mostEntries = 5_000

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
    const { entries } = await audit.find((entry) => entry.requestId === requestId, { limit: mostEntries })
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
