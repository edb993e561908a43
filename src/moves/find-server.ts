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

/**
 * Returns the only server, or the only one in this project. Several servers can have the same hostname. Throws UnknownName if there is none,
 * and UserError if there is more than one.
 */
export function chooseServer(typed: string, candidates: Server[], project: ProjectRef | undefined): Server {
  const [only, ...others] = candidates
  if (!only) throw new UnknownName('server', typed, serverNameProblem(typed))
  if (others.length === 0) return only
  const inProject = candidates.filter((server) => sameProject(server.project, project))
  const [sole] = inProject
  if (sole && inProject.length === 1) return sole
  const list = candidates.map(
    (server) => `${server.id} (${server.project?.name ?? 'unknown project'}, ${server.site?.slug ?? server.site?.name ?? 'unknown site'})`,
  )
  throw new UserError(`${candidates.length} servers are called ${typed}: ${someOf(list)}. Use the id.`)
}
