import type { AccountApi } from '../account/client.ts'
import type { Inventory } from '../account/inventory.ts'
import { asFarAsRead, findInList, nothingIfAbsent, type ReadList, readOrRefuse } from '../account/resource.ts'
import { type ElasticIp, type ProjectRef, projectName, type Server, sameProject } from '../domain/account.ts'
import {
  type Change,
  type Description,
  explainer,
  type Fact,
  type Observation,
  type OnAnswer,
  type Preflight,
  type PreflightOptions,
} from '../domain/change.ts'
import { ApiError, UnknownName, UserError } from '../domain/errors.ts'
import { phrase, serverNameProblem, someOf } from '../domain/text.ts'
import { withinOr } from '../domain/within.ts'
import {
  addressOf,
  afterMove,
  checkMove,
  completeMove,
  MoveFacts,
  MoveFinding,
  MoveInput,
  moveDifferences,
  moveRemark,
  moveWords,
  namesakeWarnings,
  needsAssignedServer,
  observeMove,
  refuseMove,
  serverNameIn,
} from './move.ts'

/** The shared copy of the list of servers. */
export type ServerCopies = Pick<Inventory, 'servers' | 'isShort'>

interface ReadOptions {
  signal?: AbortSignal | undefined
  /** Absent before a write, which must not rely on a copy. */
  copies?: ServerCopies | undefined
}

/** Returns all servers as the account shows them now, if few reads are enough and the account answers. */
export async function allServers(copies: ServerCopies | undefined): Promise<Server[] | undefined> {
  if (!copies?.isShort('servers')) return undefined
  const { items, cut, old } = await asFarAsRead(copies.servers()).catch(() => ({ items: [], cut: true, old: undefined }))
  return cut || old ? undefined : items
}

/** Reads one server. Throws as the read of the account API does. */
export async function readServer(accountApi: Pick<AccountApi, 'servers'>, id: string, { copies, signal }: ReadOptions): Promise<Server> {
  const listed = (await allServers(copies))?.find((server) => server.id === id)
  return listed ?? accountApi.servers.get(id, { signal })
}

/** Returns the server with this id, or else those with this hostname. Throws as the reads of the account API do. */
export async function findServers(
  accountApi: Pick<AccountApi, 'servers'>,
  typed: string,
  { copies, ...options }: ReadOptions = {},
): Promise<Server[]> {
  const all = await allServers(copies)
  const listed = all?.filter(({ id }) => id === typed) ?? []
  if (listed.length > 0) return listed
  const named = (servers: Server[]) => servers.filter(({ hostname }) => hostname?.toLowerCase() === typed.toLowerCase())
  const inList = named(all ?? [])
  if (inList.length > 0) return inList
  const byId = async () => {
    const found = await accountApi.servers.get(typed, options).catch(nothingIfAbsent)
    return found ? [found] : []
  }
  const byHostname = async () => named(await accountApi.servers.list({ hostname: typed, ...options }))
  const [first, second] = /^sv_\w+$/.test(typed) ? [byId, byHostname] : [byHostname, byId]
  const found = await first()
  // A whole list has neither, so one more read is enough for a server that was made since.
  return found.length > 0 || all ? found : second()
}

/** Several servers have the typed name. */
export class SeveralServers extends UserError {
  override name = 'SeveralServers'
  readonly servers: Server[]

  constructor(typed: string, servers: Server[]) {
    const list = servers.map(
      ({ id, project, site }) => `${id} (${project?.name ?? 'unknown project'}, ${site?.slug ?? site?.name ?? 'unknown site'})`,
    )
    super(`${servers.length} servers are called ${typed}: ${someOf(list)}. Use the id.`)
    this.servers = servers
  }
}

/** Returns the servers that can be meant: the only one in this project, or else all of them. Throws UnknownName if there is none. */
export function serversMeant(typed: string, candidates: Server[], project: ProjectRef | undefined): [Server, ...Server[]] {
  const [first, ...others] = candidates
  if (!first) throw new UnknownName('server', typed, serverNameProblem(typed))
  const [sole, ...more] = candidates.filter((server) => sameProject(server.project, project))
  return sole && more.length === 0 ? [sole] : [first, ...others]
}

/**
 * Returns the only server, or the only one in this project. Several servers can have the same hostname. Throws UnknownName if there is none,
 * and SeveralServers if there is more than one.
 */
export function chooseServer(typed: string, candidates: Server[], project: ProjectRef | undefined): Server {
  const [only, ...others] = serversMeant(typed, candidates, project)
  if (others.length > 0) throw new SeveralServers(typed, [only, ...others])
  return only
}

/** The time limit for the search for other servers of the same name, because the requester waits for it. */
const namesakesMs = 3_000

interface Namesakes {
  warnings: MoveFinding[]
  unchecked: MoveFinding[]
}

export const noNamesakes: Namesakes = { warnings: [], unchecked: [] }

/** Searches for other servers of the same name, because approvers could mistake them for the target. A failure prevents no move. */
export async function readNamesakes(
  accountApi: Pick<AccountApi, 'servers'>,
  target: Server,
  { copies, ...options }: { signal: AbortSignal | undefined; copies?: ServerCopies | undefined },
): Promise<Namesakes> {
  const { hostname } = target
  if (hostname === undefined) return noNamesakes
  const read = await withinOr(
    namesakesMs,
    readNamed().catch(() => undefined),
    undefined,
  )
  const warnings = namesakeWarnings(target, read?.items ?? [])
  const isOpen = warnings.length === 0 && (read === undefined || read.cut !== undefined)
  return { warnings, unchecked: isOpen ? [{ code: 'names-not-compared', server: hostname }] : [] }

  async function readNamed(): Promise<ReadList<Server>> {
    const all = await allServers(copies)
    return all ? { items: all } : asFarAsRead(accountApi.servers.list({ hostname, ...options }))
  }
}

/** Creates the preflight check of a move: it reads both objects in parallel, and the old server only if the sites need it. */
export function createPreflight(accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>, copies?: ServerCopies) {
  return async function preflight(
    input: MoveInput,
    { signal, forRequest, earlier }: PreflightOptions<MoveFacts>,
  ): Promise<Preflight<MoveFacts, MoveInput>> {
    const options = { signal, ...(forRequest ? { copies } : {}) }
    const [elasticIp, target] = await Promise.all([
      readOrRefuse(
        () => accountApi.elasticIps.get(input.elasticIpId, { signal }),
        () => refuseMove({ code: 'no-elastic-ip', elasticIpId: input.elasticIpId, ...addressIn(earlier, input.elasticIpId) }),
      ),
      readOrRefuse(
        () => readServer(accountApi, input.serverId, options),
        () => refuseMove({ code: 'no-server', serverId: input.serverId, ...serverNameIn(earlier, input.serverId) }),
      ),
    ])
    const assignedId = needsAssignedServer({ elasticIp, target }) ? elasticIp?.server?.id : undefined
    const [assigned, namesakes] = await Promise.all([
      // A failed read of the old server must not prevent a move away from it. The request message says what was not checked.
      assignedId === undefined ? undefined : readServer(accountApi, assignedId, options).catch(() => undefined),
      forRequest && target ? readNamesakes(accountApi, target, options) : noNamesakes,
    ])
    const { unchecked, warnings = [], ...checked } = checkMove(input, { elasticIp, target, assigned })
    return { ...checked, unchecked: [...unchecked, ...namesakes.unchecked], warnings: [...warnings, ...namesakes.warnings] }
  }
}

function addressIn(earlier: MoveFacts | undefined, elasticIpId: string): { address?: string } {
  return earlier?.elasticIpId === elasticIpId && earlier.address !== undefined ? { address: earlier.address } : {}
}

/** The kind of the change. This name is public. */
export const moveKind = 'ip.move'

/**
 * Creates the change that moves an Elastic IP (interface specification, "PATCH /elastic_ips/{elastic_ip_id}"). `copies`: where a request finds
 * servers without a read of their own.
 */
export function createMoveChange(
  accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>,
  copies?: ServerCopies,
): Change<MoveInput, MoveFacts> {
  async function run(input: MoveInput, _: MoveFacts, { onAnswer }: { onAnswer: OnAnswer }): Promise<'tracking'> {
    await accountApi.elasticIps.move(input.elasticIpId, input.serverId, { onAnswer })
    return 'tracking'
  }

  /** Confirms a 404 with the list, because a proxy in front of the account API may have answered it. */
  async function goneUnlessListed(id: string): Promise<ElasticIp | 'gone'> {
    return (await findInList(accountApi.elasticIps.list(), (elasticIp) => elasticIp.id === id)) ?? 'gone'
  }

  async function readAlone(id: string, signal: AbortSignal): Promise<ElasticIp | 'gone'> {
    return accountApi.elasticIps.get(id, { signal }).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === 404)) throw error
      return goneUnlessListed(id)
    })
  }

  /** Reads the server again if it was not on when the move was sent, so that the report does not say that the address answers. */
  async function withNotes(facts: MoveFacts, signal: AbortSignal): Promise<Observation> {
    if (facts.toStatus === undefined) return { is: 'done' }
    const now = await accountApi.servers.get(facts.to.id, { signal }).catch(() => undefined)
    return { is: 'done', notes: afterMove(facts, now) }
  }

  return {
    kind: moveKind,
    label: 'moving an Elastic IP',
    takesTime: true,
    input: MoveInput,
    facts: MoveFacts,
    resource: (input) => `elastic_ip:${input.elasticIpId}`,
    project: (facts) => facts.project ?? 'unknown',
    preflight: createPreflight(accountApi, copies),
    differences: moveDifferences,
    explain: explainer(MoveFinding, moveWords),
    complete: completeMove,
    remark: moveRemark,
    subject: addressOf,
    describe: describeMove,
    run,
    observe: async (input, facts, moment, { signal, rows }) => {
      const row = rows?.get(input.elasticIpId) as ElasticIp | undefined
      const listed = row && observeMove(facts, row, moment)
      const observation = listed && isTrusted(listed) ? listed : observeMove(facts, await readAlone(input.elasticIpId, signal), moment)
      return observation.is === 'done' ? withNotes(facts, signal) : observation
    },
    look: async (wanted, { signal }) => {
      // Beyond so many pages, it costs less to read the rest alone.
      const pages = Math.ceil(wanted.length / 4)
      const { items } = await asFarAsRead(accountApi.elasticIps.list({ pages, wanted, signal }))
      return new Map(items.map((item) => [item.id, item]))
    },
    underwayNow: {
      list: async ({ signal }) => (await accountApi.elasticIps.list({ status: 'moving', signal })).map(movingWords),
      some: 'Elastic IPs that are moving now',
      none: 'No Elastic IP is moving now.',
      unread: "Couldn't read which Elastic IPs are moving now. Check the account.",
    },
    doneSentence: (facts) => phrase`${addressOf(facts)} is assigned to ${facts.to.name}.`,
    reverse: (_, facts) => {
      const { elasticIpId, from, to } = facts
      if (!from) return undefined
      return { input: { elasticIpId, serverId: from.id }, facts: { ...facts, from: to, to: from }, label: 'Move back' }
    },
  }
}

/** Whether a row of a list is enough. Rows can shift while a list is read, so every other end is confirmed by a read of the address alone. */
function isTrusted({ is }: Observation): boolean {
  return is === 'done' || is === 'underway' || is === 'unclear'
}

/** Names the server as *shown*, because during a move a read may show the old server or the target. */
function movingWords({ id, address, server }: ElasticIp): string {
  return `${address} (${id}), shown on ${server?.hostname ?? server?.id ?? 'no server'}`
}

export function describeMove(facts: MoveFacts): Description {
  const { from, to, project, site, showsNoServer } = facts
  const address = addressOf(facts)
  return {
    title: from ? phrase`Move ${address}: ${from.name} → ${to.name}` : phrase`Move ${address} → ${to.name}`,
    facts: [
      ...(from ? [] : [{ label: 'From', value: showsNoServer ? 'no server shown' : 'unknown' }]),
      { label: 'Project', value: project ? projectName(project) : 'unknown' },
      { label: 'Site', value: site ?? 'unknown' },
    ],
    ids: [
      ...(facts.address ? [{ label: 'Elastic IP', value: facts.elasticIpId }] : []),
      ...(from ? idOf('From', from) : []),
      ...idOf('To', to, facts.toAddress),
    ],
    underway: 'moving',
  }
}

/** Shows what the title does not say of a server: its id, and its primary address. */
function idOf(label: string, { id, name }: { id: string; name: string }, address?: string): Fact[] {
  const [value, detail] = [name === id ? undefined : id, address].filter((shown) => shown !== undefined)
  return value === undefined ? [] : [{ label, value, detail }]
}
