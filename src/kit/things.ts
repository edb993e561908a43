import type { AccountApi } from '../account/client.ts'
import type { Inventory } from '../account/inventory.ts'
import { type ApiKey, type ElasticIp, isOwnKey, type Server, type VirtualMachine } from '../account/objects.ts'
import { nothingIfAbsent, requireUncut } from '../account/resource.ts'
import type { App } from '../app.ts'
import type { AuditEntry } from '../audit/chain.ts'
import { findEntries } from '../audit/find.ts'
import { findNamesakes, isBgp, labelOf, requesterOfKey, statusNotShown } from '../domain/account.ts'
import type { List } from '../domain/list.ts'
import type { Request } from '../domain/request.ts'
import { sameName, utcTime } from '../domain/text.ts'
import { placeOf } from '../slack/pickers.ts'
import { code, dateTime, mention, mrkdwn } from '../slack/text.ts'
import type { Thing } from './thing.ts'

export const virtualMachines: Thing<VirtualMachine> = {
  one: 'virtual machine',
  a: 'a virtual machine',
  many: 'virtual machines',
  listedBy: 'vms',
  list: (app) => app.lists.virtualMachines(),
  nameOf: ({ name }) => name,
  /** Two virtual machines can have the same name and place, so the small print has the address and the id. */
  candidate: ({ id, name, primaryIpv4, project, site }) => ({
    value: id,
    text: inPlace(name ?? id, placeOf(project, site)),
    description: smallPrint([primaryIpv4, name === undefined ? undefined : id]),
    terms: [primaryIpv4, project?.slug],
  }),
  details: ({ project, site, primaryIpv4, status }) => [placeOf(project, site), primaryIpv4, status],
  read: (app, id, signal) => app.account.virtualMachines.get(id, { signal }),
  isId: (typed) => /^vm_\w+$/.test(typed),
}

export const elasticIps: Thing<ElasticIp> = {
  one: 'Elastic IP',
  a: 'an Elastic IP',
  many: 'Elastic IPs',
  listedBy: 'ip list',
  list: (app) => app.lists.elasticIps(),
  nameOf: ({ address }) => address,
  isCalled: ({ address }, typed) => sameAddress(address, typed),
  candidate: ({ id, address, status, server, project, site }) => ({
    value: id,
    // The account also shows no server for the addresses of a server that is not active.
    text:
      address === undefined
        ? id
        : `${address}${server ? ` on ${server.hostname ?? server.id}` : ', no server shown'}${status === 'active' ? '' : ` (${status})`}`,
    description: smallPrint([placeOf(project, slugOf(site)), address === id ? undefined : id]),
    terms: [server?.id, project?.slug, site?.name],
  }),
  whyLeftOut: (_, elasticIp) => {
    if (isBgp(elasticIp)) return 'BGP addresses are never moved.'
    const { status } = elasticIp
    return status === 'active' || status === statusNotShown ? undefined : `Its status is ${status}.`
  },
  details: ({ project, site, status }) => [placeOf(project, slugOf(site)), status],
  read: (app, id, signal) => app.account.elasticIps.get(id, { signal }),
  /** `ueip_`: BGP. */
  isId: (typed) => /^u?eip_\w+$/.test(typed),
}

export const servers: Thing<Server> = {
  one: 'server',
  a: 'a server',
  many: 'servers',
  listedBy: 'servers',
  list: (app) => app.lists.servers(),
  nameOf: ({ hostname }) => hostname,
  candidate: ({ id, hostname, label, primaryIpv4, project, site }) => ({
    value: id,
    text: inPlace(hostname ?? id, placeOf(project, slugOf(site))),
    description: smallPrint([label, primaryIpv4, hostname === undefined ? id : undefined]),
    terms: [project?.slug, site?.name],
  }),
  details: ({ label, project, site, primaryIpv4, status }) => [label, placeOf(project, slugOf(site)), primaryIpv4, status],
  read: (app, id, signal) => app.account.servers.get(id, { signal }),
  isId: isServerId,
  find: findServers,
}

export const apiKeys: Thing<ApiKey> = {
  one: 'API key',
  a: 'an API key',
  many: 'API keys',
  listedBy: 'keys',
  list: (app) => app.lists.apiKeys(),
  nameOf: ({ name }) => name && labelOf(name),
  // Lockkeeper adds to the names of the keys that it creates, so one of these and another key can have one name for people. Messages show the end of the token.
  isCalled: ({ name, tokenLastSlice }, typed) =>
    (name !== undefined && [name, labelOf(name)].some((each) => sameName(each, typed))) || typed === tokenLastSlice,
  candidate: ({ id, name, tokenLastSlice, createdAt, user }) => ({
    value: id,
    text: name === undefined ? id : labelOf(name),
    description: smallPrint([endOf(tokenLastSlice) ?? (name && id), createdAt && `created ${utcTime(Date.parse(createdAt))}`, user?.email]),
    terms: [name],
  }),
  wasThere: wasKey,
  whyLeftOut: (app, key) => (isOwnKey(key, app) ? 'Lockkeeper uses this key.' : undefined),
  mark: ({ tokenLastSlice }) => (tokenLastSlice === undefined ? undefined : mrkdwn`token ends in ${code(tokenLastSlice)}`),
  details: ({ createdAt, user, ...key }) => {
    const requester = requesterOfKey(key)
    return [
      requester && mrkdwn`for ${mention(requester)}`,
      createdAt && mrkdwn`created ${dateTime(Date.parse(createdAt))}`,
      user?.email && `owner ${user.email}`,
    ]
  },
}

/** How much of the audit is searched for a key that ended. */
const mostSearched = 5_000

/** Whether a request created a key of this name, one of the last requests was about one of this name or id, or one ended whose token ended so. */
async function wasKey(app: App, typed: string): Promise<boolean> {
  const { store, catalog } = app
  const created = await store.lastChangesOf([`api_key_label:${typed.toLowerCase()}`])
  const isOfKey = (request: Request) => {
    if (request.resource === `api_key:${typed}`) return true
    const opened = request.resource.startsWith('api_key:') ? catalog.openIfFit(request) : undefined
    return opened !== undefined && sameName(opened.change.subject(opened.facts), typed)
  }
  if (created.size > 0 || (await store.ended(1, isOfKey)).length > 0) return true
  // Only the audit has it, and few words are like it.
  if (!/^(?=.*\d)\w{4,6}$/.test(typed)) return false
  const isIts = ({ act, text }: AuditEntry) => act === 'end-key' && text?.endsWith(` (token ends in ${typed})`) === true
  return (await findEntries(app, isIts, { searched: mostSearched })).length > 0
}

/** Finds the other keys that people know by the same name. They are named as lists show them: by the ends of their tokens, and by no id. */
export function keyNamesakes(keys: ApiKey[], name: string, ownId?: string) {
  const others = keys.flatMap(({ id, name, tokenLastSlice }) =>
    id === ownId || name === undefined ? [] : [{ id: markOf({ id, tokenLastSlice }), name: labelOf(name) }],
  )
  const found = findNamesakes(name, others)
  return found ? [{ code: 'namesakes' as const, name, ...found }] : []
}

export function markOf({ id, tokenLastSlice }: Pick<ApiKey, 'id' | 'tokenLastSlice'>): string {
  return tokenLastSlice === undefined ? id : `…${tokenLastSlice}`
}

/** Several keys can have the same name, and differ in the ends of their tokens. */
function endOf(tokenLastSlice: string | undefined): string | undefined {
  return tokenLastSlice && `ends in ${tokenLastSlice}`
}

/** What the reads of servers need of App. Without the shared lists, each read is sent to the account API. */
export interface ServerNeeds {
  account: Pick<AccountApi, 'servers'>
  lists?: Pick<Inventory, 'servers' | 'isShort'> | undefined
}

/** Returns all servers as the account shows them now, if few reads are enough and the account answers. */
export async function allServers({ lists }: ServerNeeds): Promise<List<Server> | undefined> {
  if (!lists?.isShort('servers')) return undefined
  const all = await lists.servers().catch(() => undefined)
  return all?.cut || all?.old ? undefined : all
}

/** Finds a server by its id or else by its hostname, which the account API finds without its whole list. Throws as its reads do. */
export async function findServers(app: ServerNeeds, typed: string, signal?: AbortSignal): Promise<Server[]> {
  const named = (found: Server[]) => found.filter(({ hostname }) => sameName(hostname ?? '', typed))
  const all = (await allServers(app))?.items ?? []
  const byId = all.filter(({ id }) => id === typed)
  const listed = byId.length > 0 ? byId : named(all)
  if (listed.length > 0) return listed
  const read = isServerId(typed) ? await app.account.servers.get(typed, { signal }).catch(nothingIfAbsent) : undefined
  const found = read ? [read] : named(requireUncut(await app.account.servers.list({ hostname: typed, signal })))
  if (found.length > 0 || !app.lists) return found
  // The account may find a hostname only as it is written.
  return named((await app.lists.servers().catch(() => undefined))?.items ?? [])
}

function isServerId(typed: string): boolean {
  return /^sv_\w+$/.test(typed)
}

/** Compares addresses without their prefix lengths and without regard to case. */
export function sameAddress(a: string, b: string): boolean {
  const bare = (address: string) => address.replace(/\/\d{1,3}$/, '').toLowerCase()
  return bare(a) === bare(b)
}

/** Names of sites differ between kinds of objects, and their slugs do not. */
export function slugOf(site: { slug?: string | undefined; name?: string | undefined } | undefined): string | undefined {
  return site?.slug ?? site?.name
}

/** Undefined if the account does not show it. */
export function statusOf({ status, locked }: Server): string | undefined {
  return locked ? `${status ?? 'status unknown'}, locked` : status
}

function inPlace(name: string, place: string): string {
  return place === '' ? name : `${name} (${place})`
}

function smallPrint(parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('  ·  ')
}
