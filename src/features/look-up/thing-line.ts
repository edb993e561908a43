import { type ElasticIp, isBgp } from '../../domain/account/elastic-ip.ts'
import type { Server } from '../../domain/account/server.ts'
import type { VirtualMachine } from '../../domain/account/virtual-machine.ts'
import type { ThingKind } from '../../domain/change/offer.ts'
import { placeOf } from '../../slack/blocks/picker.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { ThingNow } from './read-things.ts'
import { cannotMoveWords } from './why-not-movable.ts'

const kinds: Record<ThingKind, string> = { 'elastic-ip': 'Elastic IP', server: 'server', 'virtual-machine': 'virtual machine' }

/** The most Elastic IPs of one server that are named. */
const mostNamed = 10

/** Describes a thing as it is now. */
export function thingLine(now: ThingNow): Mrkdwn {
  switch (now.is) {
    case 'gone':
      return mrkdwn`${code(now.id)}: no such ${kinds[now.kind]} on the account.`
    case 'unread':
      return mrkdwn`${code(now.id)}: couldn't read this ${kinds[now.kind]}. Try again in a minute.`
    case 'elastic-ip':
      return elasticIpLine(now.elasticIp, now.server)
    case 'server':
      return serverLine(now.server, now.elasticIps)
    case 'virtual-machine':
      return machineLine(now.machine)
  }
}

function elasticIpLine(elasticIp: ElasticIp, now: Server | undefined): Mrkdwn {
  const { id, address, status, server, project, site } = elasticIp
  const cannotMove = cannotMoveWords(elasticIp)
  const where = server ? mrkdwn`On ${code(server.hostname ?? server.id)}${statusOf(now)}` : mrkdwn`On no server, or its server isn't active`
  return lines([
    mrkdwn`*${code(address)}*  Elastic IP, ${status}`,
    ...(isBgp(elasticIp) ? [] : [where]),
    ...(cannotMove ? [cannotMove] : []),
    small([placeOf(project, slugOf(site)), id]),
  ])
}

function serverLine({ id, hostname, label, status, locked, primaryIpv4, project, site }: Server, elasticIps?: ElasticIp[]): Mrkdwn {
  const state = `server, ${status ?? 'status unknown'}${locked ? ', locked' : ''}`
  const labelled = label ? [mrkdwn`Label: ${code(label)}`] : []
  return lines([
    mrkdwn`*${code(hostname ?? id)}*  ${state}`,
    addressesLine(elasticIps),
    ...labelled,
    small([placeOf(project, slugOf(site)), primaryIpv4, id]),
  ])
}

function machineLine({ id, name, status, primaryIpv4, project, site }: VirtualMachine): Mrkdwn {
  return lines([
    mrkdwn`*${code(name ?? id)}*  virtual machine, ${status ?? 'status unknown'}`,
    small([placeOf(project, site), primaryIpv4, id]),
  ])
}

function addressesLine(elasticIps: ElasticIp[] | undefined): Mrkdwn {
  if (!elasticIps) return mrkdwn`Couldn't read its Elastic IPs.`
  if (elasticIps.length === 0) return mrkdwn`No Elastic IPs`
  const named = elasticIps.slice(0, mostNamed).map(({ address }) => code(address))
  const more = elasticIps.length > mostNamed ? mrkdwn` and ${elasticIps.length - mostNamed} more` : mrkdwn``
  return mrkdwn`Elastic IPs: ${joinMrkdwn(named, ', ')}${more}`
}

function statusOf(server: Server | undefined): string {
  if (!server) return " (couldn't read its status)"
  return ` (${server.status ?? 'status unknown'}${server.locked ? ', locked' : ''})`
}

function slugOf(site: { slug?: string | undefined; name?: string | undefined } | undefined): string | undefined {
  return site?.slug ?? site?.name
}

/** Shows facts from outside as code, so that nothing in them is markup. */
function small(parts: (string | undefined)[]): Mrkdwn {
  return joinMrkdwn(
    parts.filter((part) => part !== undefined && part !== '').map((part) => code(part ?? '')),
    '  ',
  )
}

function lines(parts: Mrkdwn[]): Mrkdwn {
  return joinMrkdwn(parts, '\n')
}
