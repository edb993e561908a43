import type { Command } from '../../src/slack/commands.ts'
import type { Listing } from '../../src/slack/listing.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0BEN00001', command: '/infra' }

/** Runs a command as Ben, and gives what it lists. */
export async function listingOf(command: Command | undefined, args: string[] = []): Promise<Listing> {
  const listings: Listing[] = []
  const answer = { ephemeral: async () => {}, replace: async () => {}, about: () => {} }
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
