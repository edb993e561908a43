import { type ElasticIp, isBgp } from '../../domain/account/elastic-ip.ts'
import { whyNotMovable } from '../../domain/elastic-ip-move/check.ts'
import { moveWords } from '../../domain/elastic-ip-move/words.ts'
import type { Missing } from '../../domain/errors/missing.ts'
import { inNaturalOrder } from '../../domain/text/natural-order.ts'
import { endingWords } from '../../requests/messages/refusals/causes.ts'
import { filteredListing } from '../../slack/blocks/filtered-listing.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import type { Columns } from '../../slack/lists/columns.ts'
import { type Details, detailsOf, idFact } from '../../slack/lists/details.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** A narrow screen shows the first columns only, so the server of an address comes before its status. */
const columns: Columns<ElasticIp> = [
  { header: 'Address', cell: ({ address }) => code(address) },
  { header: 'Server', cell: ({ server }) => server && code(server.hostname ?? server.id), before: 'on ', absent: 'no server shown' },
  { header: 'Status', cell: (elasticIp) => (isBgp(elasticIp) ? `${elasticIp.status}, BGP` : elasticIp.status) },
  { header: 'Project', cell: ({ project }) => project?.name },
  { header: 'Site', cell: ({ site }) => site?.slug ?? site?.name },
]

const marks: Record<string, Mrkdwn> = {
  active: mrkdwn`:large_green_circle:`,
  moving: mrkdwn`:arrows_counterclockwise:`,
  error: mrkdwn`:red_circle:`,
}

export function elasticIpListing(all: ElasticIp[], words: string[], missing: Missing = {}): Listing {
  return filteredListing({
    all,
    words,
    textsOf,
    siteOf: ({ site }) => site?.slug ?? site?.name,
    one: 'Elastic IP',
    many: 'Elastic IPs',
    order: (a, b) => inNaturalOrder(a.address, b.address),
    columns,
    mark: ({ status }) => marks[status] ?? mrkdwn`:white_circle:`,
    details: { of: 'elastic-ip', placeholder: 'Details of an Elastic IP', idOf: ({ id }) => id, nameOf: ({ address }) => address },
    none: mrkdwn`The account shows no Elastic IPs. Teams without the feature flag ${code('elastic_ips')} can't see any.`,
    missing,
  })
}

export function elasticIpDetails(elasticIp: ElasticIp): Details {
  const finding = whyNotMovable(elasticIp)
  const stays = finding ? { notes: [endingWords(moveWords(finding))], isFixed: true as const } : {}
  return { ...detailsOf(elasticIp, columns, [idFact(elasticIp.id)]), ...stays, name: elasticIp.address }
}

function textsOf({ address, id, status, mode, server, project, site, regionNames = [] }: ElasticIp): unknown[] {
  return [
    address,
    id,
    status,
    isBgp({ id, mode }) ? 'BGP' : '',
    server?.hostname,
    server?.id,
    project?.name,
    project?.slug,
    site?.name,
    site?.slug,
    ...regionNames,
  ]
}
