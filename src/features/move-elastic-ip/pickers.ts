import type { PlainTextOption } from '@slack/web-api'
import type { ElasticIp } from '../../domain/elastic-ip.ts'
import type { Server } from '../../domain/server.ts'
import { option } from '../../slack/blocks.ts'
import { type Choices, notAChoice } from '../../slack/interaction.ts'

/** Slack shows no more. */
const mostOptions = 100

export function elasticIpChoices(all: ElasticIp[], typed: string): Choices {
  const fits = all.filter((elasticIp) =>
    matches(typed, [
      elasticIp.address,
      elasticIp.id,
      elasticIp.server?.hostname,
      elasticIp.server?.id,
      elasticIp.project?.name,
      elasticIp.site?.slug,
      elasticIp.site?.name,
    ]),
  )
  return choices(fits.filter(isPickable).map(elasticIpOption), 'No Elastic IP fits what you typed.')
}

export function serverChoices(all: Server[], typed: string): Choices {
  const fits = all.filter((server) =>
    matches(typed, [
      server.hostname,
      server.label,
      server.id,
      server.primaryIpv4,
      server.project?.name,
      server.site?.slug,
      server.site?.name,
    ]),
  )
  return choices(fits.filter(isPickable).map(serverOption), 'No server fits what you typed.')
}

export function elasticIpOption(elasticIp: Pick<ElasticIp, 'id' | 'address' | 'status' | 'server'>): PlainTextOption {
  const where = elasticIp.server ? `on ${elasticIp.server.hostname ?? elasticIp.server.id}` : 'on no server'
  return option({
    text: `${elasticIp.address} ${where}${elasticIp.status === 'active' ? '' : ` (${elasticIp.status})`}`,
    value: elasticIp.id,
  })
}

export function serverOption(server: Pick<Server, 'id' | 'hostname' | 'project' | 'site'>): PlainTextOption {
  const place = [server.project?.name, server.site?.slug ?? server.site?.name].filter((part) => part !== undefined).join(', ')
  return option({ text: `${server.hostname ?? server.id}${place ? ` (${place})` : ''}`, value: server.id })
}

/** Slack takes no longer values, and one that was cut would be another's. Such ids can be typed as arguments. */
function isPickable({ id }: { id: string }): boolean {
  return id.length <= 74
}

function matches(typed: string, fields: (string | undefined)[]): boolean {
  const text = fields.join(' ').toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function choices(options: PlainTextOption[], none: string): Choices {
  if (options.length === 0) return { options: [option({ text: none, value: notAChoice })] }
  return { options: options.slice(0, mostOptions) }
}
