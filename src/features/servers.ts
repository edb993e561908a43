import { asFarAsRead, nothingIfAbsent, type ReadList } from '../account/resource.ts'
import type { App } from '../app.ts'
import type { ElasticIp, Server } from '../domain/account.ts'
import { inNaturalOrder } from '../domain/text.ts'
import { detailsMs, listFeature } from '../kit/list.ts'
import { toUserMessage } from '../slack/errors.ts'
import { filteredListing, type Listing } from '../slack/listing.ts'
import { placeOf } from '../slack/pickers.ts'
import { type Columns, type Details, detailsOf, idFact } from '../slack/table.ts'
import { code, type Mrkdwn, mrkdwn, someTexts } from '../slack/text.ts'

/** The Elastic IPs of the account, or why they could not be read. */
type ElasticIpsRead = ReadList<ElasticIp> | { problem: string }

/** A server with the Elastic IPs that are assigned to it. Undefined if they could not be read. */
interface ListedServer {
  server: Server
  elasticIps: ElasticIp[] | undefined
}

/** The most Elastic IPs of one server that a list names. Its details name more. */
const mostInList = 10
const mostInDetails = 100

const columns: Columns<ListedServer> = [
  { header: 'Server', cell: ({ server }) => code(nameOf(server)) },
  { header: 'Status', cell: ({ server }) => statusOf(server), absent: 'status unknown' },
  { header: 'Site', cell: ({ server: { site } }) => site?.slug ?? site?.name },
  { header: 'Project', cell: ({ server }) => server.project?.name },
  { header: 'Elastic IPs', cell: ({ elasticIps }) => elasticIpWords(elasticIps, mostInList), line: 2, before: 'Elastic IPs: ' },
  { header: 'Address', cell: ({ server }) => server.primaryIpv4 && code(server.primaryIpv4), line: 3, before: 'own address ' },
  { header: 'Label', cell: ({ server }) => server.label && code(server.label), line: 3, before: 'label ' },
]

function serverListing({ items, ...missing }: ReadList<Server>, words: string[], elasticIps: ElasticIpsRead): Listing {
  const onServers = 'items' in elasticIps ? Map.groupBy(elasticIps.items, ({ server }) => server?.id) : undefined
  return filteredListing({
    all: items.map((server): ListedServer => ({ server, elasticIps: onServers && (onServers.get(server.id) ?? []) })),
    words,
    textsOf,
    siteOf: ({ server: { site } }) => site?.slug ?? site?.name,
    one: 'server',
    many: 'servers',
    order: (a, b) => inNaturalOrder(nameOf(a.server), nameOf(b.server)) || inNaturalOrder(a.server.id, b.server.id),
    columns,
    details: {
      of: 'server',
      placeholder: 'Details of a server',
      idOf: ({ server }) => server.id,
      nameOf: ({ server }) => pickerName(server),
    },
    none: mrkdwn`The account has no servers.`,
    // Both lists are often equally old, and one note is enough.
    missing: { ...missing, old: missing.old ?? ('items' in elasticIps ? elasticIps.old : undefined) },
    notes: elasticIpNotes(elasticIps),
  })
}

/** Names all Elastic IPs of the server, with their ids. */
function serverDetails(server: Server, read: ElasticIpsRead): Details {
  const elasticIps = 'items' in read ? read.items.filter((one) => one.server?.id === server.id) : undefined
  const whole = columns.map((column) =>
    column.header === 'Elastic IPs' ? { ...column, cell: () => elasticIpWords(elasticIps, mostInDetails) } : column,
  ) as Columns<ListedServer>
  return { ...detailsOf({ server, elasticIps }, whole, [idFact(server.id)]), notes: elasticIpNotes(read), name: nameOf(server) }
}

function elasticIpNotes(read: ElasticIpsRead): Mrkdwn[] {
  if ('problem' in read) return [mrkdwn`:warning: Couldn't read the Elastic IPs. ${read.problem}`]
  return read.cut === undefined && !read.unreadable
    ? []
    : [mrkdwn`:warning: Couldn't read all Elastic IPs. A server may have more than are shown.`]
}

function elasticIpWords(elasticIps: ElasticIp[] | undefined, most: number): Mrkdwn | undefined {
  if (elasticIps === undefined || elasticIps.length === 0) return undefined
  const sorted = elasticIps.toSorted((a, b) => inNaturalOrder(a.address, b.address))
  return someTexts(sorted.map(shownElasticIp), most)
}

/** An Elastic IP that is moving already names its target. */
function shownElasticIp({ address, status }: ElasticIp): Mrkdwn {
  return status === 'active' ? code(address) : mrkdwn`${code(address)} (${status})`
}

function statusOf({ status, locked }: Server): string | undefined {
  return locked ? `${status ?? 'status unknown'}, locked` : status
}

/** Several servers can have one hostname, so the picker adds the project and the site, as the table shows them. */
function pickerName(server: Server): string {
  const place = placeOf(server.project, server.site?.slug ?? server.site?.name)
  return place === '' ? nameOf(server) : `${nameOf(server)} (${place})`
}

function nameOf({ id, hostname }: Server): string {
  return hostname ?? id
}

function textsOf({ server, elasticIps = [] }: ListedServer): unknown[] {
  const { id, hostname, label, primaryIpv4, status, locked, project, site, regionNames = [] } = server
  const addresses = elasticIps.flatMap((one) => [one.address, one.id, one.status])
  return [
    id,
    hostname,
    label,
    primaryIpv4,
    status,
    locked ? 'locked' : '',
    project?.name,
    project?.slug,
    site?.name,
    site?.slug,
    ...regionNames,
    ...addresses,
  ]
}

/** `/infra servers`: lists the servers of the account with their Elastic IPs. */
export const listServers = listFeature({
  words: 'servers',
  usage: '[word…]',
  group: 'View',
  summary: 'Servers with status, site, project and their Elastic IPs',
  details: mrkdwn`Words filter by hostname, label, address, Elastic IP, id, status, project or site. All of them must match.`,
  examples: ['fra', 'storefront ash'],
  list: async (app, { args }) => {
    const [all, onServers] = await Promise.all([asFarAsRead(app.lists.servers()), readElasticIps(app)])
    return serverListing(all, args, onServers)
  },
  item: {
    of: 'server',
    read: async (app, id) => {
      const server = app.account.servers.get(id, { signal: AbortSignal.timeout(detailsMs) }).catch(nothingIfAbsent)
      const [found, itsElasticIps] = await Promise.all([server, readElasticIps(app)])
      return found && serverDetails(found, itsElasticIps)
    },
  },
})

/** The servers are shown even if their Elastic IPs cannot be read: a team without the feature has none. */
async function readElasticIps(app: App): Promise<ElasticIpsRead> {
  try {
    return await asFarAsRead(app.lists.elasticIps())
  } catch (error) {
    const problem = toUserMessage(error)
    if (problem === undefined) throw error
    return { problem }
  }
}
