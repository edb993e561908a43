import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import { sameProject, sameSite } from '../../domain/account/place.ts'
import { isChoice, offer } from '../../slack/blocks/picker.ts'
import { serverCandidates } from '../../slack/blocks/server-candidates.ts'
import type { Choices, OptionsQuery } from '../../slack/commands/handlers.ts'
import { readMetadata } from '../../slack/receive/metadata.ts'

/** Creates the options of the form: every server to evacuate, and as its target the servers of its project and site. */
export function createServerOptions(inventory: Pick<Inventory, 'servers'>) {
  async function offerSources({ typed }: OptionsQuery): Promise<Choices> {
    const { items, ...missing } = await asFarAsRead(inventory.servers())
    return offer([...serverCandidates(items).values()], typed, missing)
  }

  async function offerTargets({ typed, metadata }: OptionsQuery): Promise<Choices> {
    const { items, ...missing } = await asFarAsRead(inventory.servers())
    const sourceId = readMetadata(metadata)?.extra
    const source = isChoice(sourceId) ? items.find(({ id }) => id === sourceId) : undefined
    const fits = [...serverCandidates(items)].filter(([target]) => {
      if (target.id === sourceId) return false
      if (!source) return true
      const sites = { location: undefined, assigned: source.site, target: target.site }
      return sameProject(source.project, target.project) !== false && sameSite(sites) !== false
    })
    return offer(
      fits.map(([, candidate]) => candidate),
      typed,
      missing,
    )
  }

  return { offerSources, offerTargets }
}
