import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import { ApiError, isUnanswered } from '../domain/errors.ts'
import type { List } from '../domain/list.ts'
import { covers } from '../rights/judge.ts'

interface Placed {
  project?: { id: string; name?: string | undefined } | undefined
}

/** The account gave no answer, so nobody knows whether the machine may learn of the thing. `cause`: why. */
export class NotSeen extends Error {
  override name = 'NotSeen'
}

/**
 * The app as far as a machine may find things with it: those of projects that a rule with it covers. Any other thing is absent, as if the account
 * did not have it, so that no search and no refusal tells a machine what there is.
 */
export function seenBy(app: App, origin: Origin): App {
  const isSeen = (item: Placed) => covers(app, origin, item.project ?? 'unknown')
  if (isSeen({})) return app
  const { elasticIps, servers, virtualMachines } = app.account

  const list =
    <Item extends Placed, Options>(read: (options?: Options) => Promise<List<Item>>) =>
    async (options?: Options): Promise<List<Item>> => {
      const all = await read(options)
      return { ...all, items: all.items.filter(isSeen) }
    }

  const get =
    <Item extends Placed, Options>(operation: string, read: (id: string, options?: Options) => Promise<Item>) =>
    async (id: string, options?: Options): Promise<Item> => {
      const item = await read(id, options).catch((error: unknown) => {
        throw isUnanswered(error) ? new NotSeen(`${operation} got no answer`, { cause: error }) : error
      })
      if (isSeen(item)) return item
      throw new ApiError({ operation, status: 404, codes: [], detail: undefined, retryAfterMs: undefined })
    }

  const lists = {
    ...app.lists,
    elasticIps: list(app.lists.elasticIps),
    servers: list(app.lists.servers),
    virtualMachines: list(app.lists.virtualMachines),
  }
  return {
    ...app,
    lists,
    account: {
      ...app.account,
      elasticIps: { ...elasticIps, get: get('elasticIps.get', elasticIps.get) },
      servers: { ...servers, get: get('servers.get', servers.get), list: list(servers.list) },
      virtualMachines: { ...virtualMachines, get: get('virtualMachines.get', virtualMachines.get) },
    },
    assignments: {
      ...app.assignments,
      async find(fits) {
        const seen = await app.assignments.find(fits)
        if (seen.length === 0) return []
        const ids = new Set((await lists.elasticIps()).items.map(({ id }) => id))
        return seen.filter(({ elasticIpId }) => ids.has(elasticIpId))
      },
    },
  }
}
