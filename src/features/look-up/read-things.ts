import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import type { ElasticIp } from '../../domain/account/elastic-ip.ts'
import type { Server } from '../../domain/account/server.ts'
import type { VirtualMachine } from '../../domain/account/virtual-machine.ts'
import { ApiError } from '../../domain/errors/api-errors.ts'
import type { Missing } from '../../domain/errors/missing.ts'
import type { Lists, Thing } from './find-things.ts'

/** A thing as the account shows it. `gone`: it does not exist. `unread`: the account API did not answer. */
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

export interface LookUpLists extends Lists {
  /** Whether one of them was not read, or not to its end. */
  isIncomplete: boolean
  /** Whether every item with an id was read, as the account is now. */
  isWhole: boolean
  /** Whether the list of Elastic IPs was read. */
  hasElasticIps: boolean
  /** The oldest of those that are earlier copies. */
  old: Missing['old']
}

/** Creates the reads of a look-up: the lists that are shared, and what they do not have. */
export function createReadThings({ accountApi, inventory }: ReadThingsParts) {
  /** Reads the lists. Throws if none could be read. */
  async function readLists(): Promise<LookUpLists> {
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
      isWhole: !isIncomplete && read.every((each) => each.status === 'fulfilled' && !each.value.unreadable && !each.value.old),
      hasElasticIps: elasticIps.status === 'fulfilled',
      old: read
        .flatMap((each) => (each.status === 'fulfilled' && each.value.old) || [])
        .toSorted((one, other) => other.agoMs - one.agoMs)[0],
    }
  }

  async function readNow(things: Thing[], lists: LookUpLists): Promise<ThingNow[]> {
    const signal = AbortSignal.timeout(readMs)
    return Promise.all(
      things.map((thing) =>
        readOne(thing, lists, signal).catch((error: unknown): ThingNow => ({ ...thing, is: isAbsent(error) ? 'gone' : 'unread' })),
      ),
    )
  }

  async function readOne(thing: Thing, lists: LookUpLists, signal: AbortSignal): Promise<ThingNow> {
    const { elasticIps, servers, virtualMachines } = lists
    const { id } = thing
    switch (thing.kind) {
      case 'elastic-ip': {
        const elasticIp = find(elasticIps, id) ?? (await accountApi.elasticIps.get(id, { signal }))
        const serverId = elasticIp.server?.id
        const server =
          serverId === undefined
            ? undefined
            : (find(servers, serverId) ?? (await accountApi.servers.get(serverId, { signal }).catch(() => undefined)))
        return { ...thing, is: 'elastic-ip', elasticIp, server }
      }
      case 'server': {
        const server = find(servers, id) ?? (await accountApi.servers.get(id, { signal }))
        const onServer = elasticIps.filter((each) => each.server?.id === id)
        return { ...thing, is: 'server', server, elasticIps: lists.hasElasticIps ? onServer : undefined }
      }
      case 'virtual-machine':
        return {
          ...thing,
          is: 'virtual-machine',
          machine: find(virtualMachines, id) ?? (await accountApi.virtualMachines.get(id, { signal })),
        }
    }
  }

  return { readLists, readNow }
}

function find<Item extends { id: string }>(list: Item[], id: string): Item | undefined {
  return list.find((item) => item.id === id)
}

function isAbsent(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}
