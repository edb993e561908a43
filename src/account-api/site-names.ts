import { type SiteNames, siteNamesOf } from '../domain/account/place.ts'
import { withinOr } from '../domain/within.ts'
import type { Inventory } from './inventory.ts'
import { asFarAsRead } from './lists/cut-list.ts'

/** The longest wait for the names. The answer without them names the codes of the sites instead. */
const waitMs = 2_000

/**
 * Reads the names of the sites from the short-lived copies of the lists of servers and Elastic IPs, because virtual machines and plans show
 * only the codes. Only for a search that found nothing without them: it can read both lists. Empty if they cannot be read in time.
 */
export async function readSiteNames(inventory: Pick<Inventory, 'elasticIps' | 'servers'>): Promise<SiteNames> {
  const sitesOf = async (list: Promise<Parameters<typeof siteNamesOf>[0]>) => (await asFarAsRead(list)).items
  const read = Promise.allSettled([sitesOf(inventory.servers()), sitesOf(inventory.elasticIps())])
  const lists = await withinOr(waitMs, read, [])
  return siteNamesOf(lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : [])))
}
