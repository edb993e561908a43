import type { AccountApi } from '../../account-api/client.ts'
import type { Access } from '../../changes/access.ts'
import type { LastHeard } from '../../changes/last-heard.ts'
import type { Store } from '../../changes/store.ts'
import { ApiError, ApiUnreachableError } from '../../domain/errors.ts'
import type { Origin } from '../../domain/origin.ts'
import { approversOf, type PolicyRule } from '../../domain/policy.ts'
import type { SetupProbe } from '../../slack/setup-probe.ts'
import type { SetupFacts, Unanswered } from './facts.ts'

/** Each look by itself, so that one thing that hangs does not hide the others. */
const lookMs = 4_000

export interface GatherParts {
  probe: SetupProbe
  access: Pick<Access, 'policy'>
  members: (groupIds: string[]) => Promise<Map<string, Set<string> | 'unknown'>>
  showHome: (viewer: Origin) => Promise<'shown' | { refused: string } | Unanswered>
  lastHeard: Pick<LastHeard, 'read'>
  store: Pick<Store, 'now' | 'workersSeen'>
  redisFaults: () => Promise<string[]>
  accountApi: Pick<AccountApi, 'apiKeys'>
  ownLastSlice: string
  opsChannel: string | undefined
  /** What runs here, in words. */
  bot: string
  usesSockets: boolean
}

/** Looks at everything at once. Never throws: what could not be found out is told as that. */
export function createGather(parts: GatherParts) {
  const { probe, access, members, showHome, lastHeard, store, redisFaults, accountApi, ownLastSlice, opsChannel, bot, usesSockets } = parts
  const rules = () => access.policy.rules

  async function channelsFor({ channelId }: Origin): Promise<SetupFacts['channels']> {
    const here = /^[CG]/.test(channelId) ? [channelId] : []
    const ids = new Set([...here, ...rules().flatMap((rule) => rule.channels ?? []), ...(opsChannel ? [opsChannel] : [])])
    return Promise.all([...ids].map(async (id) => ({ id, membership: await probe.membership(id) })))
  }

  async function groupsOfPolicy(): Promise<SetupFacts['groups']> {
    const found = await members([...new Set(rules().flatMap(groupsIn))])
    return [...found].map(([id, group]) => ({ id, members: group === 'unknown' ? 'unknown' : group.size }))
  }

  async function lookAtKey(): Promise<SetupFacts['key']> {
    try {
      const keys = await accountApi.apiKeys.list({ signal: AbortSignal.timeout(lookMs) })
      const own = keys.find(({ tokenLastSlice }) => tokenLastSlice === ownLastSlice)
      return { name: own?.name, readOnly: own?.readOnly, known: own !== undefined }
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return { rejected: error.status }
      if (error instanceof ApiUnreachableError) return { unreachable: error.message.replace(/^.*\((.*)\)$/, '$1') }
      throw error
    }
  }

  return async function gather(asker: Origin): Promise<SetupFacts> {
    const [scopes, lastHeardMs, channels, faults, key, ofRedisMs, ofSlackMs, workers, groups, home] = await Promise.all([
      look(probe.scopes()),
      look(lastHeard.read()),
      look(channelsFor(asker)),
      look(redisFaults()),
      look(lookAtKey()),
      look(store.now().then((at) => Date.now() - at)),
      look(probe.clockAheadMs()),
      look(store.workersSeen(15_000)),
      look(groupsOfPolicy()),
      look(showHome(asker)),
    ])
    return {
      bot,
      usesSockets,
      scopes,
      lastHeardMs,
      channels: Array.isArray(channels) ? channels : [],
      redisFaults: faults,
      key,
      clock: { ofRedisMs, ofSlackMs },
      workers,
      groups: Array.isArray(groups) ? groups : [],
      home,
    }
  }
}

function groupsIn({ request, approve, mention }: PolicyRule): string[] {
  return [...(request?.userGroups ?? []), ...(approve ? approversOf(approve).userGroups : []), ...(mention?.userGroups ?? [])]
}

async function look<T>(work: Promise<T>): Promise<T | Unanswered> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Unanswered>((resolve) => {
    timer = setTimeout(() => resolve({ unanswered: `no answer within ${lookMs / 1_000} s` }), lookMs)
  })
  const failed = (error: unknown): Unanswered => ({ unanswered: error instanceof Error ? error.message.slice(0, 120) : 'it failed' })
  try {
    return await Promise.race([work.catch(failed), late])
  } finally {
    clearTimeout(timer)
  }
}
