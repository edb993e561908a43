import type { AccountApi } from '../account-api/client.ts'
import { nothingIfAbsent } from '../account-api/reading.ts'
import { type ProjectRef, sameProject } from '../domain/account/place.ts'
import type { Server } from '../domain/account/server.ts'
import { UnknownName, UserError } from '../domain/errors/errors.ts'
import { serverNameProblem } from '../domain/text/address-problem.ts'
import { someOf } from '../domain/text/some-of.ts'

/** Returns the server with this id, or else those with this hostname. Throws as the reads of the account API do. */
export async function findServers(
  accountApi: Pick<AccountApi, 'servers'>,
  typed: string,
  options: { signal?: AbortSignal } = {},
): Promise<Server[]> {
  const [byHostname, byId] = await Promise.all([
    accountApi.servers.list({ hostname: typed, ...options }),
    accountApi.servers.get(typed, options).catch(nothingIfAbsent),
  ])
  return byId ? [byId] : byHostname.filter((server) => server.hostname?.toLowerCase() === typed.toLowerCase())
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
