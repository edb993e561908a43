import type { ElasticIp } from '../domain/elastic-ip.ts'
import type { Server } from '../domain/server.ts'
import type { VirtualMachine } from '../domain/virtual-machine.ts'
import type { AccountApi } from './client.ts'

/** Fresh enough to pick from: whatever is picked is read again before anything is done with it. */
const freshMs = 10_000

/** Old, but better than nothing while a new one is read. */
const usableMs = 120_000

/**
 * Lists to pick from, answered from a short-lived copy, since pickers must answer within 3 s at every key stroke. A copy that is
 * no longer fresh is still used while a new one is read in the background.
 */
export function createInventory(accountApi: Pick<AccountApi, 'elasticIps' | 'servers' | 'virtualMachines'>, now: () => number = Date.now) {
  const shelves = {
    elasticIps: createShelf<ElasticIp[]>(() => accountApi.elasticIps.list(), now),
    servers: createShelf<Server[]>(() => accountApi.servers.list(), now),
    virtualMachines: createShelf<VirtualMachine[]>(() => accountApi.virtualMachines.list(), now),
  }

  /** Reads what will be picked from soon, so that the first key stroke finds it. A failure is told to whoever picks. */
  function prefetch(...kinds: (keyof typeof shelves)[]): void {
    for (const kind of kinds) shelves[kind]().catch(() => undefined)
  }

  return { ...shelves, prefetch }
}
export type Inventory = ReturnType<typeof createInventory>

function createShelf<T>(load: () => Promise<T>, now: () => number): () => Promise<T> {
  let kept: { at: number; value: T } | undefined
  let loading: Promise<T> | undefined

  function reload(): Promise<T> {
    loading ??= load()
      .then((value) => {
        kept = { at: now(), value }
        return value
      })
      .finally(() => {
        loading = undefined
      })
    return loading
  }

  return async function take(): Promise<T> {
    const age = kept ? now() - kept.at : Number.POSITIVE_INFINITY
    if (kept && age < freshMs) return kept.value
    if (kept && age < usableMs) {
      // A failed refresh is told to whoever finds the copy too old; until then the copy serves.
      reload().catch(() => undefined)
      return kept.value
    }
    return reload()
  }
}
