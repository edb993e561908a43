import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import { type KeyVariable, type OwnLastSlices, ownVariableOf, readKeyProblem } from '../../domain/account/api-key.ts'
import { isBgp } from '../../domain/account/elastic-ip.ts'
import type { Origin } from '../../domain/approval/origin.ts'
import { AccountLimitError, ApiError, ApiUnreachableError, isFeatureMissing, isKeyRefused } from '../../domain/errors/api-errors.ts'
import { StoreUnavailableError } from '../../domain/errors/errors.ts'
import { missingRightOf } from '../../domain/errors/missing-right.ts'
import { writeRefusalOf } from '../../domain/errors/write-refusal.ts'
import { approversOf, type PolicyRule } from '../../domain/policy/policy.ts'
import type { Access } from '../../requests/access/access.ts'
import type { Store } from '../../requests/store/store.ts'
import { limitWords } from '../../slack/errors.ts'
import type { GroupReading } from '../../slack/web-api/setup-probe.ts'
import type { Setup } from '../feature.ts'
import { describeBot } from './describe-bot.ts'
import type { AccountApiReading, SetupFacts, Unavailable } from './facts.ts'
import { factTimeoutMs, readFact } from './read-fact.ts'

/** Workers report themselves every 5 s, so a worker that is missing for this long is gone. */
const workerSeenMs = 15_000
/** Longer than any interval between two reads of a move in progress. */
const overdueMs = 5 * 60_000

export interface GatherParts {
  setup: Setup
  access: Pick<Access, 'policy'>
  store: Pick<Store, 'now' | 'workersSeen' | 'sinceLastTickMs' | 'isBusy'>
  accountApi: Pick<AccountApi, 'apiKeys'>
  inventory: Pick<Inventory, 'servers' | 'elasticIps' | 'virtualMachines'>
  ownLastSlices: OwnLastSlices
}

/** What servers, Elastic IPs and virtual machines have in common. */
interface Shown {
  id: string
  hostname?: string | undefined
  project: { id: string } | undefined
}

/** Reads all facts in parallel. Never throws: a fact that cannot be read is `unavailable`. */
export function createGather({ setup, access, store, accountApi, inventory, ownLastSlices }: GatherParts) {
  const { probe, members, showHome, lastReceived, budget, opsChannel, usesSockets } = setup
  const { rules, alerts: routes = [] } = access.policy

  async function channelsFor({ channelId }: Origin): Promise<SetupFacts['channels']> {
    // The app cannot be invited to a direct message.
    const here = /^[CG]/.test(channelId) ? [channelId] : []
    const ofPolicy = [...rules.flatMap((rule) => rule.channels ?? []), ...routes.map((route) => route.channelId)]
    const ids = new Set([...here, ...ofPolicy])
    return Promise.all([...ids].map(async (id) => ({ id, membership: await readFact(() => probe.membership(id)) })))
  }

  async function readOpsChannel(): Promise<SetupFacts['opsChannel']> {
    return opsChannel && { id: opsChannel.id, membership: await readFact(opsChannel.check) }
  }

  async function groupsOfPolicy(): Promise<SetupFacts['groups']> {
    const deciding = new Set(rules.flatMap(decidingGroups))
    const ids = new Set([...deciding, ...rules.flatMap((rule) => rule.mention?.userGroups ?? [])])
    return Promise.all([...ids].map(async (id) => ({ id, decides: deciding.has(id), reading: await readFact(() => readGroup(id)) })))
  }

  async function readGroup(id: string): Promise<GroupReading> {
    const found = (await members([id])).get(id)
    if (found !== undefined && found !== 'unknown') return { is: 'read', members: found.size }
    return { is: 'unreadable', why: (await probe.whyUnreadable(id)) ?? 'the last read failed' }
  }

  /**
   * Returns the ids of projects and the targets of alerts that nothing shows. The list of
   * Elastic IPs is read anyway, and the next one only if an id is left.
   */
  async function idsUnseen(): Promise<string[]> {
    const targets = routes.flatMap(({ to }) => (typeof to === 'string' ? [to] : [...to.values()]))
    let unseen = [...new Set([...rules.flatMap((rule) => rule.projects?.ids ?? []), ...targets])]
    for (const list of [inventory.elasticIps, inventory.servers, inventory.virtualMachines]) {
      if (unseen.length === 0) break
      const { items, cut } = await asFarAsRead<Shown>(list())
      if (cut !== undefined) return []
      const seen = new Set(items.flatMap(({ id, hostname, project }) => [id, hostname?.toLowerCase(), project?.id]))
      unseen = unseen.filter((id) => !seen.has(id) && !seen.has(id.toLowerCase()))
    }
    return unseen
  }

  async function countElasticIps(): Promise<{ all: number; bgp: number }> {
    const { items } = await asFarAsRead(inventory.elasticIps())
    return { all: items.length, bgp: items.filter(isBgp).length }
  }

  async function readWorkers(): Promise<Exclude<SetupFacts['workers'], Unavailable>> {
    const [seen, lastTickMs, overdue] = await Promise.all([
      store.workersSeen(workerSeenMs),
      store.sinceLastTickMs(),
      store.isBusy(-overdueMs),
    ])
    return { seen, lastTickMs, overdue }
  }

  return async function gather(viewer: Origin): Promise<SetupFacts> {
    const [slack, home, lastReceivedMs, channels, notices, groups, redis, api, used, unseen, elasticIps, ofSlackMs, ofRedisMs, workers] =
      await Promise.all([
        readFact(probe.reach),
        readFact(() => showHome(viewer)),
        readFact(lastReceived.read),
        channelsFor(viewer),
        readOpsChannel(),
        groupsOfPolicy(),
        readFact(() => readRedis(setup, store)),
        readFact(() => readAccountApi(accountApi, ownLastSlices)),
        readFact(budget.figures),
        readFact(idsUnseen),
        readFact(countElasticIps),
        readFact(() => probe.clockAheadMs(AbortSignal.timeout(factTimeoutMs))),
        readFact(async () => Date.now() - (await store.now())),
        readFact(readWorkers),
      ])
    const clock = { ofSlackMs, ofRedisMs }
    const alerts = { isOn: setup.running.alerts !== undefined, routes: routes.map(({ name, channelId }) => ({ name, channelId })) }
    return {
      bot: describeBot(setup),
      usesSockets,
      command: { used: viewer.command, configured: setup.command },
      slack,
      home,
      lastReceivedMs,
      channels,
      opsChannel: notices,
      groups,
      alerts,
      redis,
      accountApi: api,
      limits: { perMinute: budget.perMinute, hasReadKey: budget.hasReadKey, used },
      idsUnseen: unseen,
      elasticIps,
      clock,
      workers,
    }
  }
}

async function readRedis(
  { redisPrefix, redisFaults, probeWrites }: Setup,
  store: Pick<Store, 'now'>,
): Promise<Exclude<SetupFacts['redis'], Unavailable>> {
  try {
    const faults = await redisFaults()
    const refusal = await probeWrites()
    // Runs a script, as every step does. Its user may lack that right alone.
    await store.now()
    return refusal ? { faults, refusal } : { faults }
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    const lacksRight = missingRightOf(error, redisPrefix)
    if (lacksRight) return { lacksRight }
    const refusal = writeRefusalOf(error.code)
    if (refusal) return { faults: [], refusal }
    if (error.code === undefined) return { silent: 'no answer' }
    throw error
  }
}

async function readAccountApi({ apiKeys }: GatherParts['accountApi'], own: OwnLastSlices): Promise<AccountApiReading> {
  try {
    // Ends shortly before `readFact` does, so that the reason is known.
    const keys = await apiKeys.list({ signal: AbortSignal.timeout(factTimeoutMs - 100) })
    const holding = (variable: KeyVariable) => keys.find((each) => ownVariableOf(each, own) === variable)
    const key = holding('INFRA_API_KEY')
    const readKey = { problem: readKeyProblem(keys, own), name: holding('INFRA_READ_KEY')?.name }
    return {
      is: 'answers',
      own: key
        ? { is: 'listed', name: key.name, readOnly: key.readOnly }
        : { is: own.INFRA_API_KEY === undefined ? 'not-set' : 'not-listed' },
      ...(own.INFRA_READ_KEY === undefined ? {} : { readKey }),
    }
  } catch (error) {
    if (error instanceof AccountLimitError) return { is: 'limited', why: limitWords(error).why, waitMs: error.waitMs }
    if (error instanceof ApiUnreachableError) return { is: 'unreachable', problem: error.problem }
    if (isFeatureMissing(error)) return { is: 'lacks-feature' }
    if (!(error instanceof ApiError)) throw error
    const { status, key } = error
    return isKeyRefused(error) ? { is: 'rejects', status, key } : { is: 'fails', status }
  }
}

function decidingGroups({ request, approve }: PolicyRule): string[] {
  return [...(request?.userGroups ?? []), ...(approve ? approversOf(approve).userGroups : [])]
}
