import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { asFarAsRead } from '../../account-api/lists/cut-list.ts'
import { isBgp } from '../../domain/account/elastic-ip.ts'
import type { Origin } from '../../domain/approval/origin.ts'
import { ApiError, ApiUnreachableError, isFeatureMissing, isKeyRefused } from '../../domain/errors/api-errors.ts'
import { StoreUnavailableError } from '../../domain/errors/errors.ts'
import { missingRightOf } from '../../domain/errors/missing-right.ts'
import { writeRefusalOf } from '../../domain/errors/write-refusal.ts'
import { approversOf, type PolicyRule } from '../../domain/policy/policy.ts'
import type { Access } from '../../requests/access/access.ts'
import type { Store } from '../../requests/store/store.ts'
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
  inventory: Pick<Inventory, 'elasticIps'>
  ownLastSlice: string
}

/** Reads all facts in parallel. Never throws: a fact that cannot be read is `unavailable`. */
export function createGather({ setup, access, store, accountApi, inventory, ownLastSlice }: GatherParts) {
  const { probe, members, showHome, lastReceived, opsChannel, usesSockets } = setup
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
    const [slack, home, lastReceivedMs, channels, notices, groups, redis, api, elasticIps, ofSlackMs, ofRedisMs, workers] =
      await Promise.all([
        readFact(probe.reach),
        readFact(() => showHome(viewer)),
        readFact(lastReceived.read),
        channelsFor(viewer),
        readOpsChannel(),
        groupsOfPolicy(),
        readFact(() => readRedis(setup, store)),
        readFact(() => readAccountApi(accountApi, ownLastSlice)),
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

async function readAccountApi({ apiKeys }: GatherParts['accountApi'], ownLastSlice: string): Promise<AccountApiReading> {
  try {
    // Ends shortly before `readFact` does, so that the reason is known.
    const keys = await apiKeys.list({ signal: AbortSignal.timeout(factTimeoutMs - 100) })
    const own = keys.find(({ tokenLastSlice }) => tokenLastSlice === ownLastSlice)
    return { is: 'answers', known: own !== undefined, name: own?.name, readOnly: own?.readOnly }
  } catch (error) {
    if (error instanceof ApiUnreachableError) return { is: 'unreachable', problem: error.problem }
    if (isFeatureMissing(error)) return { is: 'lacks-feature' }
    if (!(error instanceof ApiError)) throw error
    return { is: isKeyRefused(error) ? 'rejects' : 'fails', status: error.status }
  }
}

function decidingGroups({ request, approve }: PolicyRule): string[] {
  return [...(request?.userGroups ?? []), ...(approve ? approversOf(approve).userGroups : [])]
}
