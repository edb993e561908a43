import { z } from 'zod'
import type { AccountApi } from '../../account-api/client.ts'
import { type Read, readOrNothing } from '../../account-api/reading.ts'
import type { Change, Description, OnAnswer, Preflight, Survey } from '../../domain/change.ts'
import type { ElasticIp } from '../../domain/elastic-ip.ts'
import { ApiError, UserError } from '../../domain/errors.ts'
import { judgeMove, type Move } from '../../domain/move.ts'
import type { Server } from '../../domain/server.ts'

export const MoveInput = z.object({ elasticIpId: z.string(), serverId: z.string() })
export type MoveInput = z.infer<typeof MoveInput>

const Named = z.object({ id: z.string(), name: z.string() })

/** The account, as far as it matters to a move. What could not be read is absent. */
export const MoveFacts = z.object({
  elasticIpId: z.string(),
  address: z.string().optional(),
  from: Named.optional(),
  to: Named,
  toAddress: z.string().optional(),
  project: Named.optional(),
  site: Named.optional(),
})
export type MoveFacts = z.infer<typeof MoveFacts>

/** Moving an Elastic IP to another server of the same project and site (interface specification, `PATCH /elastic_ips/{elastic_ip_id}`). */
export function createMoveChange(accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>): Change<MoveInput, MoveFacts> {
  async function preflight(input: MoveInput, { signal }: { signal?: AbortSignal }): Promise<Preflight<MoveFacts>> {
    const options = { signal }
    const [elasticIp, server] = await Promise.all([
      readOrNothing(
        () => accountApi.elasticIps.get(input.elasticIpId, options),
        `There is no Elastic IP ${input.elasticIpId} on the account.`,
      ),
      readOrNothing(() => accountApi.servers.get(input.serverId, options), `There is no server ${input.serverId} on the account.`),
    ])
    return judgePreflight(input, elasticIp, server)
  }

  async function run(input: MoveInput, _: MoveFacts, { onAnswer }: { onAnswer: OnAnswer }): Promise<'following'> {
    await accountApi.elasticIps.move(input.elasticIpId, input.serverId, { onAnswer })
    return 'following'
  }

  async function survey({ signal }: { signal?: AbortSignal }): Promise<Survey<MoveInput>> {
    const moving = await accountApi.elasticIps.list({ status: 'moving', signal })
    const seen = new Set(moving.flatMap((elasticIp) => (elasticIp.server ? [`${elasticIp.id}>${elasticIp.server.id}`] : [])))
    return { sees: (input) => seen.has(`${input.elasticIpId}>${input.serverId}`) }
  }

  /** A 404 may come from something in front of the account API: only a list that can be read, and does not have it, tells that it is gone. */
  async function goneUnlessListed(id: string): Promise<ElasticIp | 'gone'> {
    const all = await accountApi.elasticIps.list()
    return all.find((elasticIp) => elasticIp.id === id) ?? 'gone'
  }

  return {
    kind: 'ip.move',
    input: MoveInput,
    facts: MoveFacts,
    resource: (input) => `elastic_ip:${input.elasticIpId}`,
    project: (facts) => facts.project ?? 'unknown',
    preflight,
    differences: differencesOf,
    describe: describeMove,
    run,
    observe: async (input, facts, moment, { signal }) => {
      const seen = await accountApi.elasticIps.get(input.elasticIpId, { signal }).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 404)) throw error
        return goneUnlessListed(input.elasticIpId)
      })
      return judgeMove(moveOf(facts), seen, moment)
    },
    survey,
    doneSentence: (facts) => `${addressOf(facts)} now answers from ${facts.to.name}.`,
    reverse: (_, facts) =>
      facts.from ? { input: { elasticIpId: facts.elasticIpId, serverId: facts.from.id }, label: 'Move back' } : undefined,
  }
}

/** Whether the move can be asked for. Throws UserError when it cannot; what could not be read or is not told is listed, not refused. Pure. */
export function judgePreflight(input: MoveInput, elasticIp: Read<ElasticIp>, server: Read<Server>): Preflight<MoveFacts> {
  const unchecked: string[] = []
  if (elasticIp.is === 'unread')
    unchecked.push(`whether Elastic IP ${input.elasticIpId} exists and is active (the account API did not answer)`)
  else refuseUnlessMovable(elasticIp.value)
  if (server.is === 'unread') unchecked.push(`whether server ${input.serverId} exists (the account API did not answer)`)
  if (elasticIp.is === 'read' && server.is === 'read') unchecked.push(...compare(elasticIp.value, server.value))

  const ip = elasticIp.is === 'read' ? elasticIp.value : undefined
  const target = server.is === 'read' ? server.value : undefined
  const from = ip?.server
  const project = ip?.project ?? target?.project
  const site = ip?.site ?? target?.site
  return {
    facts: {
      elasticIpId: input.elasticIpId,
      ...(ip ? { address: ip.address } : {}),
      ...(from ? { from: { id: from.id, name: from.hostname ?? from.id } } : {}),
      to: { id: input.serverId, name: target?.hostname ?? target?.label ?? input.serverId },
      ...(target?.primaryIpv4 ? { toAddress: target.primaryIpv4 } : {}),
      ...(project ? { project: { id: project.id, name: project.name ?? project.slug ?? project.id } } : {}),
      ...(site ? { site: { id: site.id ?? site.slug ?? site.name ?? '', name: siteName(site) } } : {}),
    },
    unchecked,
    incomplete: elasticIp.is === 'unread' || server.is === 'unread',
  }
}

function refuseUnlessMovable(elasticIp: ElasticIp): void {
  const { address, status } = elasticIp
  if (status === 'moving') {
    const where = elasticIp.server ? ` to ${elasticIp.server.hostname ?? elasticIp.server.id}` : ''
    throw new UserError(`${address} is moving${where} already. Wait until that move has ended, then ask again.`)
  }
  if (status !== 'active') throw new UserError(`${address} is ${status}, and only an active Elastic IP can be moved.`)
}

function compare(elasticIp: ElasticIp, server: Server): string[] {
  const name = server.hostname ?? server.id
  if (elasticIp.server?.id === server.id) throw new UserError(`${elasticIp.address} is on ${name} already, so there is nothing to move.`)
  if (elasticIp.project && server.project && elasticIp.project.id !== server.project.id) {
    throw new UserError(
      `${name} is in project ${nameOf(server.project)}, and ${elasticIp.address} in ${nameOf(elasticIp.project)}. An Elastic IP can only be moved within its project.`,
    )
  }
  const [here, there] = [elasticIp.site, server.site]
  if (here && there && sameSite(here, there) === false) {
    throw new UserError(
      `${name} is in site ${siteName(there)}, and ${elasticIp.address} in ${siteName(here)}. An Elastic IP can only be moved within its site.`,
    )
  }
  const unchecked: string[] = []
  if (!elasticIp.server) unchecked.push(`which server ${elasticIp.address} is on (the account API shows none)`)
  if (!elasticIp.project || !server.project) unchecked.push(`whether ${name} is in the same project (the account API does not tell)`)
  if (!here || !there || sameSite(here, there) === undefined)
    unchecked.push(`whether ${name} is in the same site (the account API does not tell)`)
  return unchecked
}

type Site = NonNullable<ElasticIp['site']>

/** Undefined when the two cannot be compared, because neither their ids nor their slugs are both known. */
export function sameSite(a: Site, b: Site): boolean | undefined {
  if (a.id !== undefined && b.id !== undefined) return a.id === b.id
  if (a.slug !== undefined && b.slug !== undefined) return a.slug === b.slug
  if (a.name !== undefined && b.name !== undefined) return a.name === b.name
  return undefined
}

export function siteName(site: Site): string {
  if (site.name && site.slug) return `${site.name} (${site.slug})`
  return site.name ?? site.slug ?? site.id ?? 'unknown'
}

function nameOf(project: { id: string; name: string | undefined; slug: string | undefined }): string {
  return project.name ?? project.slug ?? project.id
}

/** What is no longer as it was approved. A change of names alone is none: ids are what was approved. Pure. */
export function differencesOf(approved: MoveFacts, now: MoveFacts): string[] {
  const address = addressOf(now)
  const differences: string[] = []
  if (approved.from && now.from?.id !== approved.from.id) {
    differences.push(`${address} was on ${approved.from.name} when this was asked for, and is on ${now.from?.name ?? 'no server'} now.`)
  }
  if (approved.address && now.address !== approved.address) {
    differences.push(`The Elastic IP's address was ${approved.address} when this was asked for, and is ${now.address ?? 'unknown'} now.`)
  }
  if (approved.project && now.project && approved.project.id !== now.project.id) {
    differences.push(`It was in project ${approved.project.name} when this was asked for, and is in ${now.project.name} now.`)
  }
  if (approved.site && now.site && approved.site.id !== now.site.id) {
    differences.push(`It was in site ${approved.site.name} when this was asked for, and is in ${now.site.name} now.`)
  }
  return differences
}

export function describeMove(facts: MoveFacts): Description {
  const from = facts.from ? ` from ${facts.from.name}` : ''
  return {
    title: 'Move Elastic IP',
    sentence: `Move ${addressOf(facts)}${from} to ${facts.to.name}`,
    facts: [
      { label: 'Elastic IP', value: facts.address ?? facts.elasticIpId, ...(facts.address ? { detail: facts.elasticIpId } : {}) },
      { label: 'Site', value: facts.site?.name ?? 'not known' },
      { label: 'From', ...(facts.from ? named(facts.from) : { value: 'not known' }) },
      { label: 'To', ...named(facts.to, facts.toAddress) },
      { label: 'Project', value: facts.project?.name ?? 'not known' },
    ],
    underway: 'moving',
  }
}

function named({ id, name }: { id: string; name: string }, address?: string): { value: string; detail?: string } {
  const details = [name === id ? undefined : id, address].filter((detail) => detail !== undefined)
  return details.length > 0 ? { value: name, detail: details.join(', ') } : { value: name }
}

function addressOf(facts: MoveFacts): string {
  return facts.address ?? facts.elasticIpId
}

function moveOf(facts: MoveFacts): Move {
  return { address: addressOf(facts), from: facts.from, to: facts.to }
}
