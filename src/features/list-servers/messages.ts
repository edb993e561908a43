import type { ReadList } from '../../account-api/cut-list.ts'
import type { ElasticIp } from '../../domain/elastic-ip.ts'
import { inNaturalOrder } from '../../domain/natural-order.ts'
import type { Server } from '../../domain/server.ts'
import { cutNotes } from '../../slack/blocks/cut-note.ts'
import { filteredListing } from '../../slack/blocks/filtered-listing.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import { someTexts } from '../../slack/text/some-texts.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** The Elastic IPs of the account, or why they could not be read. */
export type ElasticIpsRead = ReadList<ElasticIp> | { problem: string }

/** A server with the Elastic IPs that are assigned to it. Undefined if they could not be read. */
interface ListedServer {
  server: Server
  elasticIps: ElasticIp[] | undefined
}

/** The most Elastic IPs of one server that are named. A move or an evacuation finds the others. */
const mostElasticIps = 10

export function serverListing({ items, cut }: ReadList<Server>, words: string[], elasticIps: ElasticIpsRead): Listing {
  const onServers = 'items' in elasticIps ? Map.groupBy(elasticIps.items, ({ server }) => server?.id) : undefined
  return filteredListing({
    all: items.map((server): ListedServer => ({ server, elasticIps: onServers && (onServers.get(server.id) ?? []) })),
    words,
    textsOf,
    one: 'server',
    many: 'servers',
    order: (a, b) => inNaturalOrder(nameOf(a.server), nameOf(b.server)) || inNaturalOrder(a.server.id, b.server.id),
    row,
    none: mrkdwn`The account has no servers.`,
    notes: [...cutNotes(cut, items.length), ...elasticIpNotes(elasticIps)],
  })
}

function elasticIpNotes(read: ElasticIpsRead): Mrkdwn[] {
  if ('problem' in read) return [mrkdwn`:warning: Couldn't read the Elastic IPs. ${read.problem}`]
  return read.cut === undefined ? [] : [mrkdwn`:warning: Not all Elastic IPs could be read, so a server may have more than are shown.`]
}

function row({ server, elasticIps }: ListedServer): Mrkdwn {
  const { id, label, status, locked, project, site, primaryIpv4 } = server
  const details = [
    mrkdwn`${status ?? 'status unknown'}${locked ? ', locked' : ''}`,
    ...[project?.name, site?.slug ?? site?.name].flatMap((part) => (part === undefined ? [] : [mrkdwn`${part}`])),
    ...(primaryIpv4 === undefined ? [] : [code(primaryIpv4)]),
    code(id),
  ]
  const named = label === undefined ? mrkdwn`` : mrkdwn`  ·  label: ${code(label)}`
  const lines = [mrkdwn`*${code(nameOf(server))}*  ·  ${joinMrkdwn(details, '  ·  ')}${named}`, ...elasticIpLine(elasticIps)]
  return joinMrkdwn(lines, '\n')
}

function elasticIpLine(elasticIps: ElasticIp[] | undefined): Mrkdwn[] {
  if (elasticIps === undefined || elasticIps.length === 0) return []
  const sorted = elasticIps.toSorted((a, b) => inNaturalOrder(a.address, b.address))
  return [mrkdwn`Elastic IPs: ${someTexts(sorted.map(shownElasticIp), mostElasticIps)}`]
}

/** An Elastic IP that is on its way names its target already. */
function shownElasticIp({ address, status }: ElasticIp): Mrkdwn {
  return status === 'active' ? code(address) : mrkdwn`${code(address)} (${status})`
}

function nameOf({ id, hostname }: Server): string {
  return hostname ?? id
}

function textsOf({ server, elasticIps = [] }: ListedServer): unknown[] {
  const { id, hostname, label, primaryIpv4, status, locked, project, site } = server
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
    ...addresses,
  ]
}
