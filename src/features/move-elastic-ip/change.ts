import type { AccountApi } from '../../account-api/client.ts'
import { asFarAsRead, findInList } from '../../account-api/cut-list.ts'
import { readOrRefuse } from '../../account-api/reading.ts'
import type { Change, Description, OnAnswer, Preflight, PreflightOptions } from '../../domain/change.ts'
import type { ElasticIp } from '../../domain/elastic-ip.ts'
import {
  addressOf,
  checkMove,
  completeMove,
  MoveFacts,
  MoveInput,
  moveDifferences,
  moveRemark,
  needsAssignedServer,
  refuseMove,
} from '../../domain/elastic-ip-move.ts'
import { MoveFinding, moveWords } from '../../domain/elastic-ip-move-findings.ts'
import { moveSightings, observeMove, sightingsIn } from '../../domain/elastic-ip-move-progress.ts'
import { namesakeWarnings } from '../../domain/elastic-ip-move-warnings.ts'
import { ApiError } from '../../domain/errors.ts'
import { explainer } from '../../domain/finding.ts'
import { projectName } from '../../domain/place.ts'
import type { Server } from '../../domain/server.ts'
import { withinOr } from '../../domain/within.ts'

/** How long the search for other servers of the same name may take, while a person waits. */
const namesakesMs = 3_000

interface Namesakes {
  warnings: MoveFinding[]
  unchecked: MoveFinding[]
}

const none: Namesakes = { warnings: [], unchecked: [] }

/** Moving an Elastic IP to another server of the same project and site (interface specification, `PATCH /elastic_ips/{elastic_ip_id}`). */
export function createMoveChange(accountApi: Pick<AccountApi, 'elasticIps' | 'servers'>): Change<MoveInput, MoveFacts> {
  async function preflight(input: MoveInput, { signal, forRequest }: PreflightOptions): Promise<Preflight<MoveFacts, MoveInput>> {
    const options = { signal }
    const [elasticIp, target] = await Promise.all([
      readOrRefuse(
        () => accountApi.elasticIps.get(input.elasticIpId, options),
        () => refuseMove({ code: 'no-elastic-ip', elasticIpId: input.elasticIpId }),
      ),
      readOrRefuse(
        () => accountApi.servers.get(input.serverId, options),
        () => refuseMove({ code: 'no-server', serverId: input.serverId }),
      ),
    ])
    const assignedId = needsAssignedServer({ elasticIp, target }) ? elasticIp?.server?.id : undefined
    const [assigned, namesakes] = await Promise.all([
      // Whatever is wrong with the old server must not stop the address from leaving it: the request message says what was not checked.
      assignedId === undefined ? undefined : accountApi.servers.get(assignedId, options).catch(() => undefined),
      forRequest && target ? readNamesakes(target, options) : none,
    ])
    const checked = checkMove(input, { elasticIp, target, assigned })
    return {
      ...checked,
      unchecked: [...checked.unchecked, ...namesakes.unchecked],
      warnings: [...(checked.warnings ?? []), ...namesakes.warnings],
    }
  }

  /** Looks for other servers of the same name, which approvers could mistake for the target. That it fails stops no move. */
  async function readNamesakes(target: Server, options: { signal: AbortSignal | undefined }): Promise<Namesakes> {
    if (target.hostname === undefined) return none
    const list = asFarAsRead(accountApi.servers.list({ hostname: target.hostname, ...options }))
    const read = await withinOr(
      namesakesMs,
      list.catch(() => undefined),
      undefined,
    )
    const warnings = namesakeWarnings(target, read?.items ?? [])
    const isOpen = warnings.length === 0 && (!read || read.cut !== undefined)
    return { warnings, unchecked: isOpen ? [{ code: 'names-not-compared', server: target.hostname }] : [] }
  }

  async function run(input: MoveInput, _: MoveFacts, { onAnswer }: { onAnswer: OnAnswer }): Promise<'tracking'> {
    await accountApi.elasticIps.move(input.elasticIpId, input.serverId, { onAnswer })
    return 'tracking'
  }

  /** A 404 may come from something in front of the account API: only a list that can be read, and does not have it, tells that it is gone. */
  async function goneUnlessListed(id: string): Promise<ElasticIp | 'gone'> {
    return (await findInList(accountApi.elasticIps.list(), (elasticIp) => elasticIp.id === id)) ?? 'gone'
  }

  return {
    kind: 'ip.move',
    label: 'moving an Elastic IP',
    eventActions: ['update', 'move', 'assign', 'reassign'],
    takesTime: true,
    input: MoveInput,
    facts: MoveFacts,
    resource: (input) => `elastic_ip:${input.elasticIpId}`,
    project: (facts) => facts.project ?? 'unknown',
    preflight,
    differences: moveDifferences,
    explain: explainer(MoveFinding, moveWords),
    complete: completeMove,
    remark: moveRemark,
    describe: describeMove,
    run,
    observe: async (input, facts, moment, { signal }) => {
      const seen = await accountApi.elasticIps.get(input.elasticIpId, { signal }).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 404)) throw error
        return goneUnlessListed(input.elasticIpId)
      })
      return observeMove(facts, seen, moment)
    },
    // A move that a list does not show is read by itself, so an incomplete list does no harm.
    survey: async ({ signal }) => sightingsIn((await asFarAsRead(accountApi.elasticIps.list({ status: 'moving', signal }))).items),
    sightings: (_, facts) => moveSightings(facts),
    underwayNow: {
      list: async ({ signal }) => (await accountApi.elasticIps.list({ status: 'moving', signal })).map(movingWords),
      some: 'Elastic IPs that are moving now',
      none: 'No Elastic IP is moving now.',
      unread: 'I could not read from the account API which Elastic IPs are moving now: look there.',
    },
    doneSentence: (facts) => `${addressOf(facts)} now answers from ${facts.to.name}.`,
    reverse: (_, facts) =>
      facts.from ? { input: { elasticIpId: facts.elasticIpId, serverId: facts.from.id }, label: 'Move back' } : undefined,
  }
}

/** Reads may show the old server or the target meanwhile, so the words say no more than that. */
function movingWords({ id, address, server }: ElasticIp): string {
  return `${address} (${id}), shown on ${server?.hostname ?? server?.id ?? 'no server'}`
}

export function describeMove(facts: MoveFacts): Description {
  const from = facts.from ? ` from ${facts.from.name}` : ''
  return {
    title: 'Move Elastic IP',
    sentence: `Move ${addressOf(facts)}${from} to ${facts.to.name}`,
    facts: [
      { label: 'Elastic IP', value: facts.address ?? facts.elasticIpId, ...(facts.address ? { detail: facts.elasticIpId } : {}) },
      { label: 'Site', value: facts.site ?? 'not known' },
      { label: 'From', ...fromOf(facts) },
      { label: 'To', ...named(facts.to, facts.toAddress) },
      { label: 'Project', value: facts.project ? projectName(facts.project) : 'not known' },
    ],
    underway: 'moving',
  }
}

function fromOf({ from, showsNoServer }: MoveFacts): { value: string; detail?: string } {
  if (!from) return { value: showsNoServer ? 'no server shown' : 'not known' }
  return named(from)
}

function named({ id, name }: { id: string; name: string }, address?: string): { value: string; detail?: string } {
  const details = [name === id ? undefined : id, address].filter((detail) => detail !== undefined)
  return details.length > 0 ? { value: name, detail: details.join(', ') } : { value: name }
}
