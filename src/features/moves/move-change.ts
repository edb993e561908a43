import type { AccountApi } from '../../account/client.ts'
import type { Inventory } from '../../account/inventory.ts'
import type { ElasticIp, Server } from '../../account/objects.ts'
import { findInList, readOrRefuse, requireUncut } from '../../account/resource.ts'
import { type Named, type ProjectRef, placeFact, statusNotShown } from '../../domain/account.ts'
import type { Change, Description, IdFact, Preflight, PreflightOptions } from '../../domain/change.ts'
import { ApiError } from '../../domain/errors.ts'
import { phrase } from '../../domain/text.ts'
import { findListed, listedFact, shownFacts } from '../../kit/listed.ts'
import { readBriefly } from '../../kit/thing.ts'
import { allServers, type ServerNeeds } from '../../kit/things.ts'
import {
  addressOf,
  afterMove,
  checkMove,
  completeMove,
  factsOf,
  isInPlaceOf,
  MoveFacts,
  type MoveFinding,
  MoveInput,
  type MoveReads,
  moveDifferences,
  moveFindings,
  namesakeWarnings,
  needsAssignedServer,
  observeMove,
  refuseMove,
} from './move-checks.ts'

interface MoveNeeds extends ServerNeeds {
  account: Pick<AccountApi, 'elasticIps' | 'servers'>
  lists?: (ServerNeeds['lists'] & Pick<Inventory, 'elasticIps'>) | undefined
}

/** The kind of the change. This name is public. */
export const moveKind = 'ip.move'

/** The change that moves an Elastic IP (interface specification, "PATCH /elastic_ips/{elastic_ip_id}"). */
export function moveChange(app: MoveNeeds): Change<MoveInput, MoveFacts> {
  return {
    kind: moveKind,
    label: 'moving an Elastic IP',
    takesTime: true,
    input: MoveInput,
    facts: MoveFacts,
    resource: (input) => `elastic_ip:${input.elasticIpId}`,
    project: (facts) => facts.project ?? 'unknown',
    preflight: (input, options) => preflight(app, input, options),
    differences: moveDifferences,
    explain: moveFindings.explain,
    complete: completeMove,
    subject: addressOf,
    target: (facts) => shownFacts(facts).to,
    describe: describeMove,
    send: async ({ elasticIpId, serverId }, _, { onAnswer }) => {
      await app.account.elasticIps.move(elasticIpId, serverId, { onAnswer })
      return 'tracking'
    },
    observe: async ({ elasticIpId }, facts, moment, { signal, rows }) => {
      const row = rows?.get(elasticIpId) as ElasticIp | undefined
      const listed = row && observeMove(facts, row, moment)
      // Rows can shift while a list is read, so every other end is confirmed by a read of the address alone.
      const isTrusted = listed?.is === 'done' || listed?.is === 'underway' || listed?.is === 'unclear'
      const observed = isTrusted ? listed : observeMove(facts, await readAlone(app, elasticIpId, signal), moment)
      if (observed.is !== 'done' || facts.toStatus === undefined) return observed
      // The server was not on when the move was sent, so that the report must not say that the address answers.
      const now = await app.account.servers.get(facts.to.id, { signal }).catch(() => undefined)
      return { is: 'done', notes: afterMove(facts, now) }
    },
    look: async (wanted, { signal }) => {
      // Beyond so many pages, it costs less to read the rest alone.
      const pages = Math.ceil(wanted.length / 4)
      const { items } = await app.account.elasticIps.list({ pages, wanted, signal })
      return new Map(items.map((item) => [item.id, item]))
    },
    underwayNow: {
      list: async ({ signal }) => {
        const moving = requireUncut(await app.account.elasticIps.list({ status: 'moving', signal }))
        // *Shown*, because during a move a read may show the old server or the target.
        return moving.map(({ id, address, server }) => `${address} (${id}), shown on ${server?.hostname ?? server?.id ?? 'no server'}`)
      },
      some: 'Elastic IPs that are moving now',
      none: 'No Elastic IP is moving now.',
      unread: "Couldn't read which Elastic IPs are moving now. Check the account.",
    },
    doneSentence: (facts) => phrase`${addressOf(facts)} is assigned to ${facts.to.name}.`,
    reverse: (_, facts) => {
      const { elasticIpId, from, to } = facts
      if (!from) return undefined
      // Whatever its status is, the move back undoes this one.
      const back = { ...facts, from: to, to: from, toStatus: statusNotShown }
      return { input: { elasticIpId, serverId: from.id }, facts: back, label: 'Move back' }
    },
  }
}

/** Reads both objects in parallel, and the old server only if the sites need it. A check before a write does not rely on shared lists. */
async function preflight(
  app: MoveNeeds,
  input: MoveInput,
  { signal, forRequest = false }: PreflightOptions,
): Promise<Preflight<MoveFacts, MoveInput>> {
  const { elasticIpId, serverId } = input
  const options = { signal, shared: forRequest }
  const [elasticIp, target] = await Promise.all([
    readOrRefuse(
      () => app.account.elasticIps.get(elasticIpId, { signal }),
      () => refuseMove({ code: 'no-elastic-ip', elasticIpId }),
    ),
    readOrRefuse(
      () => readServer(app, serverId, options),
      () => refuseMove({ code: 'no-server', serverId }),
    ),
  ])
  const assignedId = needsAssignedServer({ elasticIp, target }) ? elasticIp?.server?.id : undefined
  const [assigned, namesakes] = await Promise.all([
    // A failed read of the old server must not prevent a move away from it. The request message says what was not checked.
    assignedId === undefined ? undefined : readServer(app, assignedId, options).catch(() => undefined),
    readNamesakes(app, forRequest ? target : undefined, signal),
  ])
  const { unchecked, warnings = [], ...checked } = checkMove(input, { elasticIp, target, assigned })
  const listed = forRequest && checked.incomplete ? await listedFacts(app, input, { elasticIp, target, assigned }) : undefined
  return {
    ...checked,
    facts: { ...checked.facts, listed },
    unchecked: [...unchecked, ...namesakes.unchecked],
    warnings: [...warnings, ...namesakes.warnings],
  }
}

/** What was not read now, as the lists had it. */
async function listedFacts({ lists }: MoveNeeds, input: MoveInput, reads: MoveReads): Promise<MoveFacts['listed']> {
  const [elasticIp, target] = await Promise.all([
    reads.elasticIp ? undefined : findListed(lists?.elasticIps(), input.elasticIpId),
    reads.target ? undefined : findListed(lists?.servers(), input.serverId),
  ])
  const at = Math.min(elasticIp?.at ?? Number.POSITIVE_INFINITY, target?.at ?? Number.POSITIVE_INFINITY)
  const facts = factsOf(input, { ...reads, elasticIp: reads.elasticIp ?? elasticIp?.item, target: reads.target ?? target?.item })
  // Nobody is warned of a status that was not read now, so it stops the move before the write.
  return elasticIp || target ? { ...facts, toStatus: undefined, at } : undefined
}

export async function readServer(
  app: ServerNeeds,
  id: string,
  { shared, signal }: { shared: boolean; signal: AbortSignal | undefined },
): Promise<Server> {
  const listed = shared ? (await allServers(app))?.items.find((server) => server.id === id) : undefined
  return listed ?? app.account.servers.get(id, { signal })
}

/** Searches for other servers of the same name, because approvers could mistake them for the target. A failure prevents no move. */
export async function readNamesakes(
  app: ServerNeeds,
  target: Server | undefined,
  signal: AbortSignal | undefined,
): Promise<{ warnings: MoveFinding[]; unchecked: MoveFinding[] }> {
  const hostname = target?.hostname
  if (!target || hostname === undefined) return { warnings: [], unchecked: [] }
  const readNamed = async () => (await allServers(app)) ?? app.account.servers.list({ hostname, signal })
  const read = await readBriefly(readNamed())
  const warnings = namesakeWarnings(target, read?.items ?? [])
  const isOpen = warnings.length === 0 && (read === undefined || read.cut !== undefined)
  return { warnings, unchecked: isOpen ? [{ code: 'names-not-compared', server: hostname }] : [] }
}

/** Reads an Elastic IP. A 404 is confirmed with the list, because a proxy in front of the account API may have answered it. */
async function readAlone({ account: { elasticIps } }: MoveNeeds, id: string, signal: AbortSignal): Promise<ElasticIp | 'gone'> {
  try {
    return await elasticIps.get(id, { signal })
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error
    return findInList(await elasticIps.list(), (elasticIp) => elasticIp.id === id) ?? 'gone'
  }
}

export function describeMove(facts: MoveFacts): Description {
  const { from, to, address: shown, project, site, showsNoServer } = shownFacts(facts)
  const address = addressOf(facts)
  return {
    title: from ? phrase`Move ${address}: ${from.name} → ${to.name}` : phrase`Move ${address} → ${to.name}`,
    facts: [
      ...(from ? [] : [{ label: 'From', value: [showsNoServer ? 'no server shown' : 'unknown'] }]),
      placeFact(project, site),
      ...listedFact(facts),
    ],
    ids: [...(shown ? [{ label: 'Elastic IP', value: facts.elasticIpId }] : []), ...(from ? idOf('From', from) : []), ...idOf('To', to)],
    underway: 'moving',
  }
}

export function idOf(label: string, { id, name }: { id: string; name: string }): IdFact[] {
  return name === id ? [] : [{ label, value: id }]
}

/** Returns the servers that can be meant: those in this project and site. If there are none, the check of the first one says why. */
export function serversMeant<Found extends Pick<Server, 'project' | 'site'>>(
  found: [Found, ...Found[]],
  place: { project?: ProjectRef | undefined; site?: Named | undefined },
): [Found, ...Found[]] {
  const [first = found[0], ...others] = found.filter((server) => isInPlaceOf(place, server))
  return [first, ...others]
}
