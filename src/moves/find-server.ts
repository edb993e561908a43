import type { AccountApi } from '../account-api/client.ts'
import type { Inventory } from '../account-api/inventory.ts'
import { asFarAsRead } from '../account-api/lists/cut-list.ts'
import { nothingIfAbsent } from '../account-api/reading.ts'
import { type ProjectRef, sameProject } from '../domain/account/place.ts'
import type { Server } from '../domain/account/server.ts'
import { UnknownName, UserError } from '../domain/errors/errors.ts'
import { serverNameProblem } from '../domain/text/address-problem.ts'
import { someOf } from '../domain/text/some-of.ts'

/** The shared copy of the list of servers. */
export type ServerCopies = Pick<Inventory, 'servers' | 'isShort'>

interface ReadOptions {
  signal?: AbortSignal | undefined
  /** Absent before a write, which must not rely on a copy. */
  copies?: ServerCopies | undefined
}

/** Returns all servers as the account shows them now, if few reads are enough and the account answers. */
export async function allServers(copies: ServerCopies | undefined): Promise<Server[] | undefined> {
  if (!copies?.isShort('servers')) return undefined
  const { items, cut, old } = await asFarAsRead(copies.servers()).catch(() => ({ items: [], cut: true, old: undefined }))
  return cut || old ? undefined : items
}

/** Reads one server. Throws as the read of the account API does. */
export async function readServer(accountApi: Pick<AccountApi, 'servers'>, id: string, { copies, signal }: ReadOptions): Promise<Server> {
  const listed = (await allServers(copies))?.find((server) => server.id === id)
  return listed ?? accountApi.servers.get(id, { signal })
}

/** Returns the server with this id, or else those with this hostname. Throws as the reads of the account API do. */
export async function findServers(
  accountApi: Pick<AccountApi, 'servers'>,
  typed: string,
  { copies, ...options }: ReadOptions = {},
): Promise<Server[]> {
  const all = await allServers(copies)
  const listed = all?.filter(({ id }) => id === typed) ?? []
  if (listed.length > 0) return listed
  const named = (servers: Server[]) => servers.filter(({ hostname }) => hostname?.toLowerCase() === typed.toLowerCase())
  const inList = named(all ?? [])
  if (inList.length > 0) return inList
  const byId = async () => {
    const found = await accountApi.servers.get(typed, options).catch(nothingIfAbsent)
    return found ? [found] : []
  }
  const byHostname = async () => named(await accountApi.servers.list({ hostname: typed, ...options }))
  const [first, second] = /^sv_\w+$/.test(typed) ? [byId, byHostname] : [byHostname, byId]
  const found = await first()
  // A whole list has neither, so one more read is enough for a server that was made since.
  return found.length > 0 || all ? found : second()
}

/** Several servers have the typed name. */
export class SeveralServers extends UserError {
  override name = 'SeveralServers'
  readonly servers: Server[]

  constructor(typed: string, servers: Server[]) {
    const list = servers.map(
      ({ id, project, site }) => `${id} (${project?.name ?? 'unknown project'}, ${site?.slug ?? site?.name ?? 'unknown site'})`,
    )
    super(`${servers.length} servers are called ${typed}: ${someOf(list)}. Use the id.`)
    this.servers = servers
  }
}

/** Returns the servers that can be meant: the only one in this project, or else all of them. Throws UnknownName if there is none. */
export function serversMeant(typed: string, candidates: Server[], project: ProjectRef | undefined): [Server, ...Server[]] {
  const [first, ...others] = candidates
  if (!first) throw new UnknownName('server', typed, serverNameProblem(typed))
  const [sole, ...more] = candidates.filter((server) => sameProject(server.project, project))
  return sole && more.length === 0 ? [sole] : [first, ...others]
}

/**
 * Returns the only server, or the only one in this project. Several servers can have the same hostname. Throws UnknownName if there is none,
 * and SeveralServers if there is more than one.
 */
export function chooseServer(typed: string, candidates: Server[], project: ProjectRef | undefined): Server {
  const [only, ...others] = serversMeant(typed, candidates, project)
  if (others.length > 0) throw new SeveralServers(typed, [only, ...others])
  return only
}
