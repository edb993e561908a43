import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import type { Found } from '../../audit/find-entries.ts'
import type { Audit } from '../../audit/intake.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { type Beside, createBeside, type Thing, thingsOf } from './beside.ts'
import type { WordsOfChanges } from './entry-words.ts'
import { type Filter, readFilter } from './filter.ts'
import { isAboutWrite, judgeEvents } from './judge-events.ts'
import { besideNote, filterNote, lookedNote, nothing, title, tooManyThings, unreadableEvents } from './messages.ts'
import { createOneAtATime } from './one-at-a-time.ts'
import { auditRows } from './rows.ts'

/** So many entries are shown. */
const mostEntries = 200

/** The account's events from before the oldest entry, which may be why it was asked for. */
const dayMs = 24 * 3_600_000

/** Where no entry fits. */
const withoutEntriesMs = 30 * dayMs

interface ShowAuditParts {
  audit: Pick<Audit, 'find'>
  accountApi: Pick<AccountApi, 'events'>
  inventory: Pick<Inventory, 'elasticIps' | 'virtualMachines'>
  catalog: WordsOfChanges
}

/** `/infra audit`: who asked, approved, rejected and did what, and beside it what the account says of the same things. */
export const showAudit = { create } satisfies FeatureDefinition

function create({ audit, accountApi, inventory, catalog }: ShowAuditParts): Feature {
  const beside = createBeside({ accountApi, inventory })
  const runAlone = createOneAtATime()

  async function listingFor(words: string[], me: string): Promise<Listing> {
    const filter = readFilter(words, me, catalog)
    const found = await audit.find(filter.fits, { limit: mostEntries })
    if (words.length === 0) return plainListing(found, undefined, catalog, [filterNote(catalog.kinds())])
    const things = thingsOf(found.entries, filter.names)
    const chosen = things?.length ? things : await beside.findThings(filter.names)
    if (chosen.length === 0) return plainListing(found, filter, catalog, things === undefined ? [tooManyThings] : [])
    return listingBeside(found, filter, chosen)
  }

  async function listingBeside(found: Found, filter: Filter, things: Thing[]): Promise<Listing> {
    const oldest = found.entries.at(-1)?.at
    const since = oldest === undefined ? Date.now() - withoutEntriesMs : oldest - dayMs
    const ids = new Set(things.map(({ targetId }) => targetId))
    // All writes, also those that the words leave out: what they made was not made outside.
    const [read, writes] = await Promise.all([
      beside.readEvents(things, new Date(since)),
      audit.find((entry) => isAboutWrite(entry, ids), { limit: 5_000 }),
    ])
    const events = judgeEvents(read.events, writes.entries, writes.all ? undefined : writes.since, catalog)
    const listing = plainListing(found, filter, catalog, besideNotes(read, since))
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
        summary:
          'Shows who asked for, approved, rejected and did what, newest first, and beside it what the account itself tells. Words filter by person, kind, address, name or id.',
        example: '203.0.113.10',
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
    notes: [...notes, lookedNote({ ...found, full }, entries.length)],
  }
}

function besideNotes({ read, full, unread }: Beside, since: number): NonNullable<Listing['notes']> {
  const names = (things: Thing[]) => things.map(({ name }) => name).toSorted()
  const sentences = [...new Set(unread.map(({ sentence }) => sentence))]
  return [
    ...(read.length > 0 ? [besideNote(names(read), since, names(full))] : []),
    ...sentences.map((one) => unreadableEvents(names(unread.filter(({ sentence }) => sentence === one).map(({ thing }) => thing)), one)),
  ]
}
