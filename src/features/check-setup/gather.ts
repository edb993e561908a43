import type { AccountApi } from '../../account-api/client.ts'
import { ApiError, ApiUnreachableError, isFeatureMissing, isKeyRefused, StoreUnavailableError } from '../../domain/errors.ts'
import type { Origin } from '../../domain/origin.ts'
import { approversOf, type PolicyRule } from '../../domain/policy.ts'
import type { Access } from '../../requests/lifecycle/access.ts'
import type { Store } from '../../requests/store/store.ts'
import type { GroupReading } from '../../slack/web-api/setup-probe.ts'
import type { Setup } from '../feature.ts'
import { describeBot } from './describe-bot.ts'
import type { AccountApiReading, SetupFacts, Unanswered } from './facts.ts'
import { look, lookMs } from './look.ts'

/** Workers say every 5 s that they are at work. */
const workerSeenMs = 15_000
/** Longer than anybody lets pass between two looks at moves in flight. */
const overdueMs = 5 * 60_000

export interface GatherParts {
  setup: Setup
  access: Pick<Access, 'policy'>
  store: Pick<Store, 'now' | 'workersSeen' | 'sinceLastTickMs' | 'isBusy'>
  accountApi: Pick<AccountApi, 'apiKeys'>
  ownLastSlice: string
}

/** Looks at everything at once. Never throws: what could not be found out is told as that. */
export function createGather({ setup, access, store, accountApi, ownLastSlice }: GatherParts) {
  const { probe, members, showHome, lastHeard, redisFaults, opsChannel, usesSockets } = setup
  const { rules } = access.policy

  async function channelsFor({ channelId }: Origin): Promise<SetupFacts['channels']> {
    // A direct message is no channel that anybody could be invited to.
    const here = /^[CG]/.test(channelId) ? [channelId] : []
    const ids = new Set([...here, ...rules.flatMap((rule) => rule.channels ?? []), ...(opsChannel ? [opsChannel] : [])])
    return Promise.all([...ids].map(async (id) => ({ id, membership: await look(() => probe.membership(id)) })))
  }

  async function groupsOfPolicy(): Promise<SetupFacts['groups']> {
    const deciding = new Set(rules.flatMap(decidingGroups))
    const ids = new Set([...deciding, ...rules.flatMap((rule) => rule.mention?.userGroups ?? [])])
    return Promise.all([...ids].map(async (id) => ({ id, decides: deciding.has(id), reading: await look(() => readGroup(id)) })))
  }

  async function readGroup(id: string): Promise<GroupReading> {
    const found = (await members([id])).get(id)
    if (found !== undefined && found !== 'unknown') return { is: 'read', members: found.size }
    return { is: 'unreadable', why: (await probe.whyUnreadable(id)) ?? 'it could not be read a moment ago' }
  }

  async function lookAtRedis(): Promise<Exclude<SetupFacts['redis'], Unanswered>> {
    try {
      return { faults: await redisFaults() }
    } catch (error) {
      if (error instanceof StoreUnavailableError && error.code === undefined) return { silent: 'no answer' }
      throw error
    }
  }

  async function lookAtAccountApi(): Promise<AccountApiReading> {
    try {
      // A little before the look itself ends, so that it ends with the reason.
      const keys = await accountApi.apiKeys.list({ signal: AbortSignal.timeout(lookMs - 100) })
      const own = keys.find(({ tokenLastSlice }) => tokenLastSlice === ownLastSlice)
      return { is: 'answers', known: own !== undefined, name: own?.name, readOnly: own?.readOnly }
    } catch (error) {
      if (error instanceof ApiUnreachableError) return { is: 'unreachable', problem: error.problem }
      if (isFeatureMissing(error)) return { is: 'lacks-feature' }
      if (!(error instanceof ApiError)) throw error
      return { is: isKeyRefused(error) ? 'rejects' : 'fails', status: error.status }
    }
  }

  async function lookAtWorkers(): Promise<Exclude<SetupFacts['workers'], Unanswered>> {
    const [seen, lastTickMs, overdue] = await Promise.all([
      store.workersSeen(workerSeenMs),
      store.sinceLastTickMs(),
      store.isBusy(-overdueMs),
    ])
    return { seen, lastTickMs, overdue }
  }

  return async function gather(asker: Origin): Promise<SetupFacts> {
    const [slack, home, lastHeardMs, channels, groups, redis, api, ofSlackMs, ofRedisMs, workers] = await Promise.all([
      look(probe.reach),
      look(() => showHome(asker)),
      look(lastHeard.read),
      channelsFor(asker),
      groupsOfPolicy(),
      look(lookAtRedis),
      look(lookAtAccountApi),
      look(() => probe.clockAheadMs(AbortSignal.timeout(lookMs))),
      look(async () => Date.now() - (await store.now())),
      look(lookAtWorkers),
    ])
    const clock = { ofSlackMs, ofRedisMs }
    return { bot: describeBot(setup), usesSockets, slack, home, lastHeardMs, channels, groups, redis, accountApi: api, clock, workers }
  }
}

function decidingGroups({ request, approve }: PolicyRule): string[] {
  return [...(request?.userGroups ?? []), ...(approve ? approversOf(approve).userGroups : [])]
}
