import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead, type ReadList } from '../../account-api/lists/cut-list.ts'
import type { Baseline } from '../../domain/account/baseline.ts'
import { ApiError, isFeatureMissing } from '../../domain/errors/api-errors.ts'
import { UserError } from '../../domain/errors/errors.ts'
import { code, mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { baselineListing } from './messages.ts'

/** `/infra baselines`: lists the configurations that servers are expected to be delivered with. */
export const listBaselines = { create } satisfies FeatureDefinition

function create({ inventory }: { inventory: Pick<Inventory, 'baselines'> }): Feature {
  async function read(): Promise<ReadList<Baseline>> {
    try {
      return await asFarAsRead(inventory.baselines())
    } catch (error) {
      // Teams without the feature flag may also get a 404. Any other 403 is about the key.
      if (isFeatureMissing(error) || (error instanceof ApiError && error.status === 404)) throw new UserError(noBaselines)
      throw error
    }
  }

  return {
    commands: [
      {
        words: 'baselines',
        usage: '[word…]',
        group: 'View',
        summary: 'Expected configuration of delivered servers',
        details: mrkdwn`Shows plans, operating system, SSH keys, user data, disks and BIOS. All words must match. A preview: the team needs the feature flag ${code('baselines_api')}.`,
        examples: ['kafka', 'raid-1'],
        need: 'read',
        run: async (call) => {
          const { items, ...missing } = await read()
          await call.list(baselineListing(items, call.args, missing))
        },
      },
    ],
  }
}

const noBaselines =
  "Baselines are a preview and aren't enabled for this team (feature flag baselines_api). Ask the provider's support to enable them."
