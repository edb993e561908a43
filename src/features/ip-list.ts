import { asFarAsRead, nothingIfAbsent } from '../account/resource.ts'
import { type ElasticIp, isBgp } from '../domain/account.ts'
import type { Missing } from '../domain/errors.ts'
import { inNaturalOrder } from '../domain/text.ts'
import { detailsMs, listFeature } from '../kit/list.ts'
import { endingWords } from '../messages/refusals.ts'
import { moveWords, whyNotMovable } from '../moves/move.ts'
import { filteredListing, type Listing } from '../slack/listing.ts'
import { type Columns, type Details, detailsOf, idFact } from '../slack/table.ts'
import { code, type Mrkdwn, mrkdwn } from '../slack/text.ts'

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

/** `/infra ip list`: lists the Elastic IPs of the account. */
export const listElasticIps = listFeature({
  words: 'ip list',
  usage: '[word…]',
  group: 'View',
  summary: 'Elastic IPs with status, server, project and site',
  details: mrkdwn`Words filter by address, id, status, server, project or site. All of them must match.`,
  examples: ['fra', 'storefront active'],
  list: async (app, { args }) => {
    const { items, ...missing } = await asFarAsRead(app.lists.elasticIps())
    return elasticIpListing(items, args, missing)
  },
  item: {
    of: 'elastic-ip',
    read: async (app, id) => {
      const read = app.account.elasticIps.get(id, { signal: AbortSignal.timeout(detailsMs) })
      const elasticIp = await read.catch(nothingIfAbsent)
      return elasticIp && elasticIpDetails(elasticIp)
    },
  },
})
