import type { ElasticIp, Server } from '../../account/objects.ts'
import { readOrRefuse, requireUncut } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import { placeFact, statusNotShown } from '../../domain/account.ts'
import type { Change, Description, Preflight, PreflightOptions } from '../../domain/change.ts'
import { type Phrase, phrase, sameName } from '../../domain/text.ts'
import { unlessAborted } from '../../domain/within.ts'
import { changeFeature, type Named } from '../../kit/change-feature.ts'
import { type Form, pick } from '../../kit/change-form.ts'
import { findTyped, readBriefly, type Thing } from '../../kit/thing.ts'
import { servers } from '../../kit/things.ts'
import { Refusal } from '../../slack/errors.ts'
import { preset } from '../../slack/pickers.ts'
import { code, joinMrkdwn, mrkdwn, nameWords } from '../../slack/text.ts'
import {
  addressesLeftOut,
  checkEvacuation,
  completeEvacuation,
  EvacuationFacts,
  EvacuationInput,
  evacuationDifferences,
  evacuationFindings,
  explainEvacuation,
  mostEvacuated,
  movesOf,
  whatStays,
} from './evacuation.ts'
import { addressBlocks, earlierAddresses, offerAddresses, readAddresses, readLocks } from './evacuation-addresses.ts'
import { idOf, moveChange, moveKind, readNamesakes, readServer, serversMeant } from './move-change.ts'
import { addressOf, canMoveTo, needsAssignedServer, refuseMove } from './move-checks.ts'
import { movesAt, warnOfOthers } from './open-requests.ts'

/** The server to evacuate. One that the account no longer shows is found where Lockkeeper saw it before. */
const sources: Thing<Server> = {
  ...servers,
  find: async (app, typed, signal) => {
    const found = (await servers.find?.(app, typed, signal)) ?? []
    if (found.length > 0) return found
    const seen = await app.assignments.find(({ serverId, serverName }) => serverId === typed || sameName(serverName, typed))
    return [...new Map(seen.map(({ serverId, serverName }) => [serverId, { id: serverId, hostname: serverName }])).values()]
  },
}

export const evacuationForm: Form<EvacuationInput, EvacuationFacts, 'serverId' | 'targetId'> = {
  callbackId: 'evacuate-server',
  title: 'Evacuate a server',
  about: 'serverId',
  fields: {
    serverId: pick(sources, { label: 'Server', hint: 'Its Elastic IPs are moved to another server.' }),
    targetId: pick(servers, {
      label: 'Target',
      hint: 'Must be in the same project and site.',
      dependsOn: 'serverId',
      fits: targetsOf,
    }),
  },
  errorsAt: 'targetId',
  filled: ({ serverId, targetId }, { from, to }) => ({
    serverId: preset({ text: from.name, value: serverId }),
    targetId: preset({ text: to.name, value: targetId }),
  }),
  boxes: {
    name: 'elasticIpIds',
    late: mrkdwn`Couldn't read the addresses of this server in time. Choose it again to see them.`,
    read: async (app, { serverId, targetId }, asked, signal) =>
      serverId === undefined ? [] : addressBlocks(await offerAddresses(app, { serverId, targetId, ...asked }, signal)),
    filled: earlierAddresses,
    problem: (ticked) => {
      // Without addresses, an evacuation moves all that the server has, and the form showed that none of these can be moved.
      if (!ticked) return mrkdwn`Nothing to move. Choose another server.`
      if (ticked.length === 0) return mrkdwn`Choose at least one address.`
      // A forged form may have more than were offered, and each that the account does not list for the server is read by itself.
      if (ticked.length <= mostEvacuated) return undefined
      return mrkdwn`One request moves up to ${mostEvacuated} addresses. You chose ${ticked.length}.`
    },
  },
}

async function targetsOf(app: App, serverId: string): Promise<(target: Server) => boolean> {
  const { items } = await app.lists.servers()
  const source = items.find(({ id }) => id === serverId)
  const address = { project: source?.project, site: undefined, server: { id: serverId, hostname: source?.hostname } }
  return (target) => canMoveTo(address, target, source)
}

/** How often Lockkeeper lists all Elastic IPs, so that it knows which addresses a server had before it died. */
const snapshotMs = 5 * 60_000

export const evacuateServer = changeFeature({
  kind: 'ip.evacuate',
  bundles: { 'ip.evacuate': moveKind },
  change: evacuation,
  findings: evacuationFindings,
  form: evacuationForm,
  command: {
    words: 'evacuate',
    usage: '[<server> [<target>]]',
    group: 'Change',
    summary: 'Move all Elastic IPs of a server to another one',
    details: mrkdwn`One request and one approval for all addresses that the server has, up to 50. Both servers by hostname or id, in the same project and site. Leave the target out to choose the addresses in a form. ${code('to')} between the two is fine.`,
    examples: ['web-1 web-2', 'web-1 to web-2', 'web-1'],
    button: 'Evacuate',
    shortcut: 'evacuate-server',
  },
  read: {
    names: {
      serverId: { called: 'server', member: 'server', description: 'The server to evacuate, by its hostname or id' },
      targetId: { called: 'target', member: 'target', description: 'The server that takes over, by its hostname or id' },
    },
    find: findNamed,
    machines: {
      tool: 'propose_evacuation',
      title: 'Propose to evacuate a server',
      description:
        'Requests to move all Elastic IPs of a server, at most 50, to another server of the same project and site. One approval covers all of them.',
    },
  },
  item: { of: 'server', label: 'Evacuate…' },
  offer: { of: 'server', label: 'Evacuate…' },
  repeated: () => [
    {
      name: 'assignments',
      everyMs: snapshotMs,
      // The process that reads a complete list of Elastic IPs stores what it shows. One that is younger than 10 s has been stored.
      run: async (app, signal) => void requireUncut(await unlessAborted(signal, app.lists.elasticIps())),
    },
  ],
})

async function findNamed(
  app: App,
  { serverId, targetId }: Record<'serverId' | 'targetId', string>,
  signal: AbortSignal,
): Promise<Named<EvacuationInput>> {
  const [source, ...others] = await findTyped(app, sources, serverId, signal)
  const ids = [source, ...others].map(({ id }) => code(id))
  if (others.length > 0)
    throw new Refusal(
      'several-named',
      mrkdwn`${ids.length} servers are called ${nameWords(serverId)}. Use the id: ${joinMrkdwn(ids, ', ')}.`,
    )
  return {
    thing: servers,
    typed: targetId,
    found: serversMeant(await findTyped(app, servers, targetId, signal), source),
    inputOf: (targetId) => ({ serverId: source.id, targetId }),
    ask: mrkdwn`Which one should the Elastic IPs of ${nameWords(source.hostname ?? source.id)} move to?`,
    byId: `evacuate ${serverId} <id>`,
  }
}

/** The change that moves all Elastic IPs of a server to another server, with one write for each. */
export function evacuation(app: App): Change<EvacuationInput, EvacuationFacts> {
  const move = moveChange(app)
  return {
    kind: 'ip.evacuate',
    label: 'evacuating a server',
    takesTime: true,
    input: EvacuationInput,
    inputOfAlert: (servers) => ({ ...servers, leavesOut: true }),
    facts: EvacuationFacts,
    resource: ({ serverId }) => `server:${serverId}`,
    moreResources: (_, facts) => movesOf(facts).map((item) => move.resource(move.input.parse(item.input))),
    project: (facts) => facts.project ?? 'unknown',
    preflight: (input, options) => preflight(app, input, options),
    differences: evacuationDifferences,
    explain: explainEvacuation,
    complete: completeEvacuation,
    remark: remarkWords,
    leaves: whatStays,
    subject: ({ from }) => from.name,
    target: ({ to }) => to,
    describe,
    items: {
      change: move,
      of: movesOf,
      leftOut: addressesLeftOut,
      narrow: (input, elasticIpIds) => ({ ...input, elasticIpIds }),
    },
    observe: async () => ({ is: 'unclear' }),
    doneSentence: ({ items, to }) => phrase`${addressOrCount(items)} ${[items.length === 1 ? 'is' : 'are']} assigned to ${to.name}.`,
    reverse: ({ elasticIpIds = [] }, { from, to, project, site, items }) => ({
      input: { serverId: to.id, targetId: from.id, elasticIpIds },
      facts: {
        from: to,
        to: from,
        project,
        site,
        items: items.map(({ elasticIpId, address }) => ({ elasticIpId, address, from: to, to: from, toStatus: statusNotShown })),
        leftOut: [],
      },
      label: 'Move back',
    }),
    undoing: (facts) => ({ ...facts, isBack: true }),
  }
}

/** All its usual reads are sent at once. Before the writes, the server itself is read only if its site is needed. */
async function preflight(
  app: App,
  input: EvacuationInput,
  { signal, forRequest = false }: PreflightOptions,
): Promise<Preflight<EvacuationFacts, EvacuationInput>> {
  const { serverId, targetId, elasticIpIds } = input
  const options = { signal, shared: forRequest }
  const [addresses, target, shown] = await Promise.all([
    readAddresses(app, serverId, { elasticIpIds, forRequest, signal }),
    readOrRefuse(
      () => readServer(app, targetId, options),
      () => refuseMove({ code: 'no-server', serverId: targetId }),
    ),
    // People evacuate servers that are gone, so the server does not have to be readable.
    forRequest ? readServer(app, serverId, options).catch(() => undefined) : undefined,
  ])
  const isNeeded =
    !forRequest && addresses.all.some((each) => each.server?.id === serverId && needsAssignedServer({ elasticIp: each, target }))
  const source = isNeeded ? await app.account.servers.get(serverId, { signal }).catch(() => undefined) : shown
  const namesakes = await readNamesakes(app, forRequest ? target : undefined, signal)
  const onServer = addresses.all.filter(({ server }) => server?.id === serverId)
  const single = [...addresses.single.values()].filter((each) => each !== 'gone')
  // One that a person chose is refused when the request is recorded. The form unticks those that it can see.
  const canBeLeft = ({ id }: ElasticIp) => input.leavesOut ?? (forRequest && elasticIpIds?.includes(id) === false)
  const locked = await readLocks(app, [...onServer, ...single].filter(canBeLeft), serverId)
  const moves = forRequest && onServer.length === 0 ? await readBriefly(movesAt(app, serverId)) : undefined
  const checked = checkEvacuation(input, { ...addresses, source, target, locked, moves }, forRequest ? 'request' : 'writes')
  const others = forRequest ? await warnOfOthers(app, checked.facts) : []
  const { unchecked, warnings = [] } = checked
  return { ...checked, unchecked: [...unchecked, ...namesakes.unchecked], warnings: [...others, ...warnings, ...namesakes.warnings] }
}

function remarkWords({ from, came = [] }: EvacuationFacts): string | undefined {
  if (came.length === 0) return undefined
  return `Assigned to ${from.name} after the request, so not moved: ${came.map(({ address }) => address).join(', ')}.`
}

function describe({ from, to, project, site, items, isBack }: EvacuationFacts): Description {
  const moved = addressOrCount(items)
  return {
    title: isBack ? phrase`Move back ${moved}: ${from.name} → ${to.name}` : phrase`Evacuate ${from.name} → ${to.name} (${moved})`,
    short: items.length === 1 ? undefined : phrase`${[isBack ? 'Move back' : 'Evacuate']} ${from.name} → ${to.name}`,
    facts: [placeFact(project, site)],
    ids: [...idOf('From', from), ...idOf('To', to)],
    underway: 'moving',
  }
}

function addressOrCount(items: EvacuationFacts['items']): Phrase {
  const [only, ...others] = items
  return only && others.length === 0 ? phrase`${addressOf(only)}` : [`${items.length} Elastic IPs`]
}
