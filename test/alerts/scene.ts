import { vi } from 'vitest'
import { createAlertStates } from '../../src/alerts/alert-states.ts'
import { createFindAlerted } from '../../src/alerts/firing/find-servers.ts'
import { createTakeFiring } from '../../src/alerts/firing/take-firing.ts'
import { createListStorm } from '../../src/alerts/list-storm.ts'
import { createFindNotice, createPostOnce } from '../../src/alerts/messages/post-once.ts'
import { createNoteResolved } from '../../src/alerts/note-resolved.ts'
import type { AlertCount, RefusalReason } from '../../src/alerts/outcome.ts'
import { type Alert, readPayload } from '../../src/alerts/payload/payload.ts'
import { createSlots } from '../../src/alerts/slots.ts'
import { createStormServers } from '../../src/alerts/storm-servers.ts'
import { createTakeDelivery } from '../../src/alerts/take-delivery.ts'
import { createTakeResolved } from '../../src/alerts/take-resolved.ts'
import type { Server } from '../../src/domain/account/server.ts'
import type { Change } from '../../src/domain/change/change.ts'
import { UserError } from '../../src/domain/errors/errors.ts'
import type { AlertRoute } from '../../src/domain/policy/alert-route.ts'
import { requestIdFor } from '../../src/requests/lifecycle/submit/build-request.ts'
import type { Submit } from '../../src/requests/lifecycle/submit/submit.ts'
import { mrkdwn } from '../../src/slack/text/text.ts'
import type { Message, Where } from '../../src/slack/web-api/messenger.ts'
import { alert, delivery, type WireAlert } from '../journeys/alerts-world.ts'
import { connectTestRedis } from '../requests/redis-for-test.ts'

export const channelId = 'C0OPS00001'

export const route: AlertRoute = {
  name: 'node down',
  match: new Map([['alertname', 'NodeDown']]),
  server: 'instance',
  to: new Map([['ash', 'standby']]),
  channelId,
}

export function server(hostname: string, more: Partial<Server> = {}): Server {
  return {
    id: `sv_${hostname}`,
    hostname,
    label: undefined,
    primaryIpv4: undefined,
    status: 'on',
    locked: false,
    project: { id: 'proj_1' },
    site: { id: 'site_ash', name: 'Ashburn', slug: 'ASH' },
    ...more,
  }
}

export const read = (alerts: unknown[]): Alert[] => {
  const payload = readPayload(JSON.stringify(delivery(alerts)))
  if (payload.is !== 'read') throw new Error(payload.is)
  return payload.alerts
}

/** An alert about a server that the scene has: `web-1` to `web-9`. */
export const down = (instance = 'web-1', labels: Record<string, unknown> = {}): WireAlert => alert({ instance, ...labels })

type SubmitHook = (submitted: Parameters<Submit>[0]) => Promise<void> | void

interface SceneOptions {
  servers?: Server[]
  routes?: AlertRoute[]
  claimMs?: number
  waitMs?: number
}

/**
 * The handling of alerts over a real Redis, with records of requests that have nothing but their states.
 */
export function arrange({ servers = defaultServers, routes = [route], claimMs = 60_000, waitMs = 50 }: SceneOptions = {}) {
  const { redis, keys } = connectTestRedis()
  const submitted: Parameters<Submit>[0][] = []
  const posts: (Where & { text: string; ts: string })[] = []
  /** What messages said after each update. */
  const updates: string[] = []
  const operators: string[] = []
  const counted = new Map<string, number>()
  const count = (name: string, by: number) => counted.set(name, (counted.get(name) ?? 0) + by)
  const resolvedRequests: string[] = []
  const find = async (id: string) => ((await redis.exists(keys.record(id))) ? ({ id } as never) : undefined)
  const hooks: {
    forged?: (serverId: string) => boolean
    beforeList?: () => Promise<void>
    beforeRecord?: SubmitHook
    afterRecord?: SubmitHook
    post?: () => unknown
    update?: (text: string) => unknown
    afterPost?: () => Promise<void> | void
  } = {}

  async function submit(request: Parameters<Submit>[0]): ReturnType<Submit> {
    await hooks.beforeRecord?.(request)
    const requestId = requestIdFor(request.deliveryKey)
    if ((await redis.hsetnx(keys.record(requestId), 'state', '"waiting"')) === 1) submitted.push(request)
    await hooks.afterRecord?.(request)
    return {
      is: 'posted',
      requestId,
      title: mrkdwn`Evacuate`,
      channelId: request.origin.channelId,
      asked: undefined,
      handoverLabel: undefined,
    }
  }

  async function list() {
    await hooks.beforeList?.()
    return servers
  }

  async function post(where: Where, { text }: Message) {
    const answer = hooks.post?.()
    if (answer) return answer
    const ts = `${posts.length + 1}.0`
    posts.push({ ...where, text, ts })
    await hooks.afterPost?.()
    return { is: 'sent' as const, ts, channelId: where.channelId }
  }

  async function update({ ts }: { ts: string }, { text }: Message) {
    const answer = await hooks.update?.(text)
    if (answer) return answer
    updates.push(text)
    for (const posted of posts) if (posted.ts === ts) posted.text = text
    return { is: 'sent' as const }
  }

  const messenger = {
    post: post as never,
    update: update as never,
    find: async ({ key, threadTs }: { key: string; threadTs?: string }) => {
      const found = posts.find((each) => each.key === key && each.threadTs === threadTs)
      return found ? { is: 'found' as const, ts: found.ts } : { is: 'absent' as const }
    },
  }

  /** Creates one process of several. */
  function replica() {
    const states = createAlertStates({ redis: redis as never, keys, claimMs })
    const shared = {
      states,
      waitMs,
      command: '/infra',
      messenger,
      postOnce: createPostOnce({ messenger }),
      onUnposted: (_: string, error: string) => void operators.push(error),
    }
    const take = createTakeDelivery({
      takeFiring: createTakeFiring({
        ...shared,
        routes,
        change: { kind: 'ip.evacuate', inputOfAlert: (both: object) => both } as unknown as Change,
        slots: createSlots({ redis: redis as never, keys }),
        findAlerted: createFindAlerted({
          accountApi: { servers: { list, get: vi.fn() } } as never,
          copies: { servers: list as never },
          seen: { find: async () => [] },
        }),
        submit: submit as Submit,
        store: { find },
        isProposal: async (_, serverId) => !hooks.forged?.(serverId),
        onForged: ({ requestId }) => void operators.push(`forged: ${requestId}`),
        teamId: () => 'T0NIMBUS01',
      }),
      takeResolved: createTakeResolved({
        states,
        routes,
        waitMs,
        findNotice: createFindNotice({ messenger }),
        resolveAlert: async (id) => {
          if (!(await find(id))) return
          resolvedRequests.push(id)
          if ((await redis.hget(keys.record(id), 'state')) === '"waiting"') await redis.hset(keys.record(id), 'state', '"withdrawn"')
        },
      }),
      listStorm: createListStorm({ ...shared, stormServers: createStormServers({ redis: redis as never, keys }) }),
      noteResolved: createNoteResolved(shared),
      counts: {
        alert: (outcome: AlertCount, by = 1) => count(outcome, by),
        refused: (reason: RefusalReason, by = 1) => count(`refused: ${reason}`, by),
      },
      onError: (error) => void errors.push(error),
    })
    return (alerts: unknown[], signal = new AbortController().signal) => take(read(alerts), signal)
  }

  const errors: unknown[] = []

  /** Sets the state of the request that was submitted as number `index`. */
  async function setState(index: number, state: string, more: Record<string, string> = {}): Promise<void> {
    const request = submitted[index]
    if (!request) throw new Error('nothing was submitted')
    await redis.hset(keys.record(requestIdFor(request.deliveryKey)), { state: JSON.stringify(state), ...more })
  }

  const counts = () => Object.fromEntries([...counted].filter(([, number]) => number > 0))
  return { replica, take: replica(), submitted, posts, updates, operators, counts, hooks, resolvedRequests, setState, errors, redis, keys }
}
export type Scene = ReturnType<typeof arrange>

const defaultServers = [server('standby'), ...Array.from({ length: 9 }, (_, index) => server(`web-${index + 1}`))]

/** A process that died here does nothing more, and frees nothing. */
const died = (): Promise<never> => new Promise(() => {})

/** The death of a process at a hook, and the promise that it has come there. */
export function deathAtHook() {
  const { promise: isDead, resolve } = Promise.withResolvers<void>()
  function die(): Promise<never> {
    resolve()
    return died()
  }
  return { die, isDead }
}

/** A refusal of the preflight check. */
export const refusal = (words: string) => new UserError(words)
