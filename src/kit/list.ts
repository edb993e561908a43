import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import type { Command, CommandCall } from '../slack/commands.ts'
import type { Listing } from '../slack/listing.ts'
import type { Details } from '../slack/table.ts'
import type { FeatureDefinition } from './change-feature.ts'

/** A command that lists something. */
interface ListFeature extends Pick<Command, 'words' | 'group' | 'summary' | 'details'> {
  /** Default: the list takes no words. */
  usage?: string
  examples?: string[]
  list(app: App, call: CommandCall): Promise<Listing>
  /** Reads the details of an item that was chosen below the list. `of`: the kind of the items. */
  item?: { of: string; read(app: App, id: string, origin: Origin): Promise<Details | undefined> }
}

/** Declares a feature that lists something. */
export function listFeature({ list, item, usage = '', examples = [], ...command }: ListFeature): FeatureDefinition {
  return {
    create: (app) => ({
      commands: [{ ...command, usage, examples, need: 'read', run: async (call) => call.list(await list(app, call)) }],
      details: item && { [item.of]: (id, origin) => item.read(app, id, origin) },
    }),
  }
}

/** How long a person waits for the details of an item. */
export const detailsMs = 10_000
