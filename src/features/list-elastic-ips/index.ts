import type { AccountApi } from '../../account-api/client.ts'
import { asFarAsRead } from '../../account-api/cut-list.ts'
import type { ElasticIp } from '../../domain/elastic-ip.ts'
import type { ListLimit } from '../../domain/list-errors.ts'
import { inNaturalOrder } from '../../domain/natural-order.ts'
import { cutNotes } from '../../slack/blocks/cut-note.ts'
import { filteredListing } from '../../slack/blocks/filtered-listing.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'

/** `/infra ip list`: lists the Elastic IPs of the account. */
export const listElasticIps = { create } satisfies FeatureDefinition

function create({ accountApi }: { accountApi: Pick<AccountApi, 'elasticIps'> }): Feature {
  return {
    commands: [
      {
        words: 'ip list',
        usage: '[word…]',
        group: 'Look',
        summary: 'Elastic IPs with status, server, project and site',
        details: mrkdwn`Words filter by address, id, status, server, project or site. All of them must match.`,
        examples: ['fra', 'storefront active'],
        need: 'read',
        run: async (call) => {
          const { items, cut } = await asFarAsRead(accountApi.elasticIps.list({ signal: AbortSignal.timeout(10_000) }))
          await call.list(elasticIpListing(items, call.args, cut))
        },
      },
    ],
  }
}

export function elasticIpListing(all: ElasticIp[], words: string[], cut?: ListLimit): Listing {
  return filteredListing({
    all,
    words,
    textsOf,
    one: 'Elastic IP',
    many: 'Elastic IPs',
    order: (a, b) => inNaturalOrder(a.address, b.address),
    row,
    none: mrkdwn`The account shows no Elastic IPs. It also shows none to a team without the feature flag ${code('elastic_ips')}.`,
    notes: cutNotes(cut, all.length),
  })
}

const marks: Record<string, string> = { active: ':large_green_circle:', moving: ':arrows_counterclockwise:', error: ':red_circle:' }

function row(elasticIp: ElasticIp): Mrkdwn {
  const mark = marks[elasticIp.status] ?? ':white_circle:'
  const where = elasticIp.server ? mrkdwn` on ${code(elasticIp.server.hostname ?? elasticIp.server.id)}` : mrkdwn`, no server`
  const place = [elasticIp.project?.name, elasticIp.site?.slug ?? elasticIp.site?.name].filter((part) => part !== undefined)
  const details = [mrkdwn`${elasticIp.status}${where}`, ...place.map((part) => mrkdwn`${part}`), code(elasticIp.id)]
  return mrkdwn`${mark} *${code(elasticIp.address)}* ${joinMrkdwn(details, '  ·  ')}`
}

function textsOf({ address, id, status, server, project, site }: ElasticIp): unknown[] {
  return [address, id, status, server?.hostname, server?.id, project?.name, project?.slug, site?.name, site?.slug]
}
