import type { ElasticIp } from '../account/objects.ts'
import { isBgp } from '../domain/account.ts'
import { fixedWords } from '../kit/elastic-ip.ts'
import { thingList } from '../kit/list.ts'
import { elasticIps, slugOf } from '../kit/things.ts'
import type { Columns } from '../slack/table.ts'
import { code, mrkdwn, nameWords } from '../slack/text.ts'

/** A narrow screen shows the first columns only, so the server of an address comes before its status. */
const columns: Columns<ElasticIp> = [
  { header: 'Address', cell: ({ address }) => code(address) },
  { header: 'Server', cell: ({ server }) => (server ? nameWords(server.hostname ?? server.id) : 'none shown') },
  { header: 'Status', cell: (elasticIp) => (isBgp(elasticIp) ? `${elasticIp.status}, BGP` : elasticIp.status) },
  { header: 'Project', cell: ({ project }) => project?.name },
  { header: 'Site', cell: ({ site }) => slugOf(site) },
]

export const listElasticIps = thingList({
  kind: 'elastic-ip',
  thing: elasticIps,
  summary: 'Elastic IPs with status, server, project and site',
  filters: 'address, id, status, server, project or site',
  examples: ['fra', 'storefront active'],
  columns: () => columns,
  isFirst: ({ status }) => status !== 'active',
  texts: (elasticIp) => [isBgp(elasticIp) ? 'BGP' : ''],
  site: ({ site }) => slugOf(site),
  none: mrkdwn`The account shows no Elastic IPs. Teams without the feature flag ${code('elastic_ips')} can't see any.`,
  whyFixed: fixedWords,
})
