import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import type { ElasticIp } from '../../domain/account/elastic-ip.ts'
import type { Server } from '../../domain/account/server.ts'
import type { VirtualMachine } from '../../domain/account/virtual-machine.ts'
import { ApiError } from '../../domain/errors/api-errors.ts'
import type { Lists, Thing } from './find-things.ts'

/** A thing as the account shows it now. `gone`: it does not exist. `unread`: the account API did not answer. */
export type ThingNow = Thing &
  (
    | { is: 'gone' | 'unread' }
    /** `server`: the server that it is on, as far as it could be read. */
    | { is: 'elastic-ip'; elasticIp: ElasticIp; server: Server | undefined }
    /** `elasticIps`: undefined if they could not be read. */
    | { is: 'server'; server: Server; elasticIps: ElasticIp[] | undefined }
    | { is: 'virtual-machine'; machine: VirtualMachine }
  )

/** The longest time that the person waits for the account. */
const readMs = 8_000

interface ReadThingsParts {
  accountApi: Pick<AccountApi, 'elasticIps' | 'servers' | 'virtualMachines'>
  inventory: Inventory
}

/** Creates the reads of a look-up: the lists, of which a short-lived copy is kept, and each thing as it is now, with at most one read beside it. */
export function createReadThings({ accountApi, inventory }: ReadThingsParts) {
  /**
   * Reads the lists. `isIncomplete`: one of them was not read, or not to its end. `isWhole`: every item with an id was read.
   * Throws if none could be read.
   */
  async function readLists(): Promise<Lists & { isIncomplete: boolean; isWhole: boolean }> {
    const read = await Promise.allSettled([
      asFarAsRead(inventory.elasticIps()),
      asFarAsRead(inventory.servers()),
      asFarAsRead(inventory.virtualMachines()),
    ])
    const [elasticIps, servers, virtualMachines] = read
    if (read.every(({ status }) => status === 'rejected') && elasticIps.status === 'rejected') throw elasticIps.reason
    const isIncomplete = read.some((each) => each.status === 'rejected' || each.value.cut !== undefined)
    return {
      elasticIps: elasticIps.status === 'fulfilled' ? elasticIps.value.items : [],
      servers: servers.status === 'fulfilled' ? servers.value.items : [],
      virtualMachines: virtualMachines.status === 'fulfilled' ? virtualMachines.value.items : [],
      isIncomplete,
      isWhole: !isIncomplete && read.every((each) => each.status === 'fulfilled' && !each.value.unreadable),
    }
  }

  async function readNow(things: Thing[]): Promise<ThingNow[]> {
    const signal = AbortSignal.timeout(readMs)
    return Promise.all(
      things.map((thing) =>
        readOne(thing, signal).catch((error: unknown): ThingNow => ({ ...thing, is: isAbsent(error) ? 'gone' : 'unread' })),
      ),
    )
  }

  async function readOne(thing: Thing, signal: AbortSignal): Promise<ThingNow> {
    switch (thing.kind) {
      case 'elastic-ip': {
        const elasticIp = await accountApi.elasticIps.get(thing.id, { signal })
        const serverId = elasticIp.server?.id
        const server = serverId === undefined ? undefined : await accountApi.servers.get(serverId, { signal }).catch(() => undefined)
        return { ...thing, is: 'elastic-ip', elasticIp, server }
      }
      case 'server': {
        const [server, elasticIps] = await Promise.all([
          accountApi.servers.get(thing.id, { signal }),
          asFarAsRead(accountApi.elasticIps.list({ serverId: thing.id, signal })).catch(() => undefined),
        ])
        // A server that ignores the filter lists every Elastic IP.
        return { ...thing, is: 'server', server, elasticIps: elasticIps?.items.filter((each) => each.server?.id === thing.id) }
      }
      case 'virtual-machine':
        return { ...thing, is: 'virtual-machine', machine: await accountApi.virtualMachines.get(thing.id, { signal }) }
    }
  }

  return { readLists, readNow }
}

function isAbsent(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}
