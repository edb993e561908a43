import type { ElasticIp } from '../domain/account/elastic-ip.ts'
import type { Server } from '../domain/account/server.ts'
import type { VirtualMachine } from '../domain/account/virtual-machine.ts'
import { ListCutError } from '../domain/errors/list-errors.ts'
import type { AccountApi } from './client.ts'

/**
 * A copy younger than this is returned as it is. That is safe, because the resource that a person picks is read again before it is used.
 */
const freshMs = 10_000

/** A copy younger than this is still returned, while a new one is read in the background. */
const usableMs = 120_000

/**
 * Creates the lists that people pick from. Each is answered from a short-lived copy: Slack requests the options of a select menu at every
 * keystroke and waits at most 3 s. Each list throws what the `list` operation of its resource throws. A list that is too long is kept like any
 * other, with its ListCutError, because reading it takes the most time.
 */
export function createInventory(accountApi: Pick<AccountApi, 'elasticIps' | 'servers' | 'virtualMachines'>, now: () => number = Date.now) {
  const lists = {
    elasticIps: createCachedList<ElasticIp[]>(() => accountApi.elasticIps.list(), now),
    servers: createCachedList<Server[]>(() => accountApi.servers.list(), now),
    virtualMachines: createCachedList<VirtualMachine[]>(() => accountApi.virtualMachines.list(), now),
  }

  /** Reads lists in advance, so that the first keystroke is answered from a copy. */
  async function prefetch(...kinds: (keyof typeof lists)[]): Promise<void> {
    await Promise.all(kinds.map((kind) => lists[kind]()))
  }

  return { ...lists, prefetch }
}
export type Inventory = ReturnType<typeof createInventory>

function createCachedList<T>(load: () => Promise<T>, now: () => number): () => Promise<T> {
  let copy: { at: number; value: Promise<T> } | undefined
  let loading: Promise<T> | undefined

  function reload(): Promise<T> {
    loading ??= load()
      .then(
        (value) => keep(Promise.resolve(value)),
        (error: unknown) => {
          if (error instanceof ListCutError) return keep(Promise.reject(error))
          throw error
        },
      )
      .finally(() => {
        loading = undefined
      })
    return loading
  }

  function keep(value: Promise<T>): Promise<T> {
    value.catch(() => undefined)
    copy = { at: now(), value }
    return value
  }

  return async function read(): Promise<T> {
    const age = copy ? now() - copy.at : Number.POSITIVE_INFINITY
    if (copy && age < freshMs) return copy.value
    if (copy && age < usableMs) {
      // Ignore a failed refresh while the copy is usable. Once the copy is too old, the failure of the next read is thrown.
      reload().catch(() => undefined)
      return copy.value
    }
    return reload()
  }
}
