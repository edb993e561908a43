import type { AccountApi } from '../../account-api/client.ts'
import type { SeenAssignments } from '../../domain/account/assignment.ts'
import type { ProjectRef } from '../../domain/account/place.ts'
import { UnknownName } from '../../domain/errors/errors.ts'
import { serverNameProblem } from '../../domain/text/address-problem.ts'
import { chooseServer, findServers, type ServerCopies } from '../../moves/find-server.ts'

/** The server to evacuate, as far as it is known. */
interface Source {
  id: string
  name: string
  project: ProjectRef | undefined
}

interface FindSourceParts {
  accountApi: Pick<AccountApi, 'servers'>
  copies?: ServerCopies
  seen: SeenAssignments
}

/**
 * Creates the function that finds a server by its id or hostname. A server that the account no longer shows is found if Lockkeeper saw it
 * before. Throws UnknownName if there is none, and UserError if there are several.
 */
export function createFindSource({ accountApi, copies, seen }: FindSourceParts) {
  return async function findSource(typed: string, options: { signal?: AbortSignal } = {}): Promise<Source> {
    const found = await findServers(accountApi, typed, { copies, ...options })
    if (found.length > 0) {
      const { id, hostname, label, project } = chooseServer(typed, found, undefined)
      return { id, name: hostname ?? label ?? id, project }
    }
    const isTyped = ({ serverId, serverName }: { serverId: string; serverName: string }) =>
      serverId === typed || serverName.toLowerCase() === typed.toLowerCase()
    const servers = new Map((await seen.find(isTyped)).map(({ serverId, serverName }) => [serverId, serverName]))
    const [only] = servers
    if (!only || servers.size > 1) throw new UnknownName('server', typed, serverNameProblem(typed))
    return { id: only[0], name: only[1], project: undefined }
  }
}
export type FindSource = ReturnType<typeof createFindSource>
