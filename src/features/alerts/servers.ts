import type { Server } from '../../account/objects.ts'
import { throwIfOld } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import { sameProject, sameSite } from '../../domain/account.ts'
import type { AlertRoute } from '../../domain/policy.ts'
import { someOf } from '../../domain/text.ts'
import { findServers } from '../../kit/things.ts'
import { code, type Mrkdwn, mrkdwn, nameWords, ownWords } from '../../slack/text.ts'
import { nameOf } from './alert-list.ts'
import { type Labels, nameIn } from './payload.ts'

export interface FoundServer {
  id: string
  name: string
}

/** The server that an alert names, and the one that takes over its Elastic IPs. */
export interface EvacuationServers {
  server: FoundServer
  target: FoundServer
}

/** Why the alert leads to no request. `server`: if it is known. */
interface Problem {
  is: 'problem'
  why: Mrkdwn
  server?: FoundServer | undefined
  /** Whether no server is known to be down. */
  isNoOutage?: boolean
}

const problem = (why: Mrkdwn, server?: FoundServer): Problem => ({ is: 'problem', why, server })

export type Located = ({ is: 'found' } & EvacuationServers) | Problem

/** With the labels of the rule (grafana.com/docs, "No Data and Error states"). When Prometheus is away, all rules fire them at once. */
const unevaluated = ['DatasourceNoData', 'DatasourceError']

/** Compares names exactly: hostname, id, primary IPv4 address. Finds a server that the account no longer shows if it was seen before. */
export async function findAlerted(app: App, route: AlertRoute, labels: Labels): Promise<Located> {
  const [alertname = '', rulename] = [labels.get('alertname'), labels.get('rulename')]
  if (rulename !== undefined && unevaluated.includes(alertname) && route.match.get('alertname') !== alertname)
    return {
      ...problem(mrkdwn`Grafana got no result for the rule ${nameOf(rulename)}, so it doesn't know whether a server is down.`),
      isNoOutage: true,
    }
  const named = nameIn(route, labels)
  if (named === undefined) return problem(mrkdwn`The alert has no label ${code(route.server)}, which names the server.`)
  const [shown, ...namesakes] = await serversNamed(app, named)
  const candidates = shown ? [shown, ...namesakes].map(asFound) : await seenServers(app, named)
  const [server, ...others] = candidates
  if (!server) return problem(mrkdwn`The account shows no server ${nameOf(named)}.`)
  if (others.length > 0) {
    const ids = ownWords(someOf(candidates.map(({ id }) => code(id).text)))
    return problem(mrkdwn`${candidates.length} servers are called ${nameOf(named)}: ${ids}.`)
  }
  // Slugs are compared without regard to case, as everywhere.
  const wanted = typeof route.to === 'string' ? route.to : route.to.get(shown?.site?.slug?.toLowerCase() ?? '')
  if (wanted === undefined) {
    const site = nameWords(shown?.site?.slug ?? 'unknown')
    return problem(mrkdwn`The policy names no target for the site ${site} of ${nameOf(server.name)}.`, server)
  }
  const meant = await serversNamed(app, wanted)
  const targets = meant.filter((each) => each.id !== server.id && canTakeOver(shown, each))
  const [target, ...namesakesOfTarget] = targets
  if (!target && meant.some(({ id }) => id === server.id))
    return problem(mrkdwn`${nameOf(server.name)} is its own target in the policy. Choose another server for its addresses.`, server)
  if (!target) {
    const why = mrkdwn`No server ${nameOf(wanted)} can take over from ${nameOf(server.name)}: there is none in the same project and site.`
    return problem(why, server)
  }
  if (namesakesOfTarget.length === 0) return { is: 'found', server, target: asFound(target) }
  return problem(mrkdwn`${targets.length} servers are called ${nameOf(wanted)}, so it isn't clear which one takes over.`, server)
}

/** Reads the shared list. Both servers are checked again before a request is made. */
async function serversNamed({ account, lists }: App, named: string): Promise<Server[]> {
  const list = await lists.servers()
  // The list of a very large account is cut off. Hostnames and ids can be read without it.
  if (list.cut) return findServers({ account }, named)
  const byId = list.items.filter(({ id }) => id === named)
  if (byId.length > 0) return byId
  const byName = list.items.filter(({ hostname, primaryIpv4 }) => hostname?.toLowerCase() === named.toLowerCase() || primaryIpv4 === named)
  if (byName.length === 0) throwIfOld(list)
  return byName
}

async function seenServers({ assignments }: App, named: string): Promise<FoundServer[]> {
  const found = await assignments.find(({ serverId, serverName }) => serverId === named || serverName.toLowerCase() === named.toLowerCase())
  return [...new Map(found.map(({ serverId, serverName }) => [serverId, serverName]))].map(([id, name]) => ({ id, name }))
}

/** Addresses move only within one project and one site. The preflight check decides if these are unknown. */
function canTakeOver(source: Server | undefined, target: Server): boolean {
  if (sameProject(source?.project, target.project) === false) return false
  return sameSite({ location: undefined, assigned: source?.site, target: target.site }) !== false
}

function asFound({ id, hostname, label }: Server): FoundServer {
  return { id, name: hostname ?? label ?? id }
}
