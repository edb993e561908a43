import type { ElasticIp, Server } from '../account/objects.ts'
import type { App } from '../app.ts'
import type { List } from '../domain/list.ts'
import { inNaturalOrder } from '../domain/text.ts'
import { thingList } from '../kit/list.ts'
import { servers, slugOf, statusOf } from '../kit/things.ts'
import { toUserMessage } from '../slack/errors.ts'
import type { Cell, Columns } from '../slack/table.ts'
import { code, mrkdwn, nameWords, someTexts } from '../slack/text.ts'

type ElasticIpsRead = (List<ElasticIp> & { on: Map<string | undefined, ElasticIp[]> }) | { problem: string; old?: undefined }

const mostNamed = 20

function columns(read: ElasticIpsRead): Columns<Server> {
  return [
    { header: 'Server', cell: ({ id, hostname }) => nameWords(hostname ?? id) },
    { header: 'Status', cell: (server) => statusOf(server) ?? 'unknown' },
    { header: 'Site', cell: ({ site }) => slugOf(site) },
    { header: 'Project', cell: ({ project }) => project?.name },
    { header: 'Elastic IPs', cell: (server) => elasticIpWords(server, read) },
    { header: 'Own address', cell: ({ primaryIpv4 }) => primaryIpv4 && code(primaryIpv4) },
    { header: 'Label', cell: ({ label }) => label && nameWords(label) },
  ]
}

function elasticIpsOf({ id }: Server, read: ElasticIpsRead): ElasticIp[] {
  return 'on' in read ? (read.on.get(id) ?? []) : []
}

function elasticIpWords(server: Server, read: ElasticIpsRead): Cell {
  const sorted = elasticIpsOf(server, read).toSorted((a, b) => inNaturalOrder(a.address, b.address))
  if (sorted.length === 0) return 'on' in read ? 'none shown' : undefined
  // An Elastic IP that is moving already names its target.
  const shown = sorted.map(({ address, status }) => (status === 'active' ? code(address) : mrkdwn`${code(address)} (${status})`))
  return someTexts(shown, mostNamed)
}

export const listServers = thingList({
  kind: 'server',
  thing: servers,
  summary: 'Servers with status, site, project and their Elastic IPs',
  filters: 'hostname, label, address, Elastic IP, id, status, project or site',
  examples: ['fra', 'storefront ash'],
  beside: readElasticIps,
  columns,
  texts: (server, read) => [
    server.locked ? 'locked' : '',
    ...elasticIpsOf(server, read).flatMap(({ address, id, status }) => [address, id, status]),
  ],
  site: ({ site }) => slugOf(site),
  none: mrkdwn`The account has no servers.`,
  notes: (read) => {
    if ('problem' in read) return [mrkdwn`:warning: Couldn't read the Elastic IPs. ${read.problem}`]
    return read.isWhole ? [] : [mrkdwn`:warning: Couldn't read all Elastic IPs. A server may have more than are shown.`]
  },
  whyFixed: (server, read) => {
    // The account doesn't show the addresses of a server that is off.
    const isWhole = 'on' in read && read.isWhole && !read.old
    return isWhole && server.status === 'on' && elasticIpsOf(server, read).length === 0
      ? mrkdwn`It has no Elastic IPs to evacuate.`
      : undefined
  },
})

/** The servers are shown even if their Elastic IPs cannot be read: a team without the feature has none. */
async function readElasticIps({ lists }: App): Promise<ElasticIpsRead> {
  try {
    const read = await lists.elasticIps()
    return { ...read, on: Map.groupBy(read.items, ({ server }) => server?.id) }
  } catch (error) {
    const problem = toUserMessage(error)
    if (problem === undefined) throw error
    return { problem }
  }
}
