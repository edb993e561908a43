import type { Command } from '../../src/slack/commands.ts'
import type { Listing } from '../../src/slack/listing.ts'
import type { Details } from '../../src/slack/table.ts'
import { readableBlocks } from '../messages/readable.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0BEN00001', command: '/infra' }

/** Runs a command as Ben, and gives what it lists. */
export async function listingOf(command: Command | undefined, args: string[] = []): Promise<Listing> {
  const listings: Listing[] = []
  const answer = { ephemeral: async () => {}, replace: async () => {}, about: () => {}, elsewhere: () => {} }
  await command?.run({
    slashCommand: { deliveryKey: 'd1', origin, answer, responseUrl: undefined, triggerId: '' },
    args,
    list: async (listing) => void listings.push(listing),
    say: async () => {},
  })
  const [listing] = listings
  if (!listing) throw new Error('nothing was listed')
  return listing
}

/** A list in words, as a person reads it. */
export const shown = ({ title, cards = [], rows, empty, notes = [], choices }: Listing) =>
  [
    rows.length + cards.length > 0 ? `*${title}*` : empty,
    ...rows,
    ...cards.map(readableBlocks),
    ...(choices && rows.length > 0 ? [`[${choices.placeholder}: ${choices.options.map((one) => one?.text.text).join(' | ')}]`] : []),
    ...notes.map((note) => `(${note})`),
  ].join('\n')

/** The details of an item in words. */
export const detailsShown = (found: Details | undefined) =>
  [
    found?.title,
    ...(found?.facts ?? []).map(({ label, words }) => `${label}: ${words}`),
    ...(found?.notes ?? []).map((note) => `(${note})`),
  ].join('\n')
