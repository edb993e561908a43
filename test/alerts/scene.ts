import { vi } from 'vitest'
import type { Server } from '../../src/domain/account.ts'
import { UserError } from '../../src/domain/errors.ts'
import type { AlertRoute } from '../../src/domain/policy.ts'
import { type Alert, readPayload } from '../../src/inbound/alert-payload.ts'
import { type Alerting, createAlertRecords, takeDelivery } from '../../src/inbound/alerts.ts'
import { requestIdFor, type Submit } from '../../src/requests/submit.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import type { Message, Where } from '../../src/slack/web-api.ts'
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
  takeMs?: number
}

/**
 * The handling of alerts over a real Redis, with records of requests that have nothing but their states.
 */
export function arrange({ servers = defaultServers, routes = [route], claimMs = 60_000, waitMs = 50, takeMs }: SceneOptions = {}) {
  const { redis, keys } = connectTestRedis()
  const submitted: Parameters<Submit>[0][] = []
  const posts: (Where & { text: string; ts: string })[] = []
  const operators: string[] = []
  const counted = new Map<string, number>()
  const count = (name: string, by: number) => counted.set(name, (counted.get(name) ?? 0) + by)
  const resolvedRequests: string[] = []
  const findMany = async (ids: string[]) => {
    const found = await Promise.all(ids.map(async (id) => ({ id, hash: await redis.hgetall(keys.record(id)) })))
    return found.filter(({ hash }) => hash.state).map(recordIn) as never
  }
  const hooks: {
    beforeList?: () => Promise<void>
    beforeResolve?: () => Promise<void>
    beforeRecord?: SubmitHook
    afterRecord?: SubmitHook
    post?: () => unknown
    find?: () => unknown
    afterPost?: () => Promise<void> | void
  } = {}

  async function submit(request: Parameters<Submit>[0]): ReturnType<Submit> {
    await hooks.beforeRecord?.(request)
    const requestId = requestIdFor(request.deliveryKey)
    const { serverId } = request.input as { serverId: string }
    if ((await redis.hsetnx(keys.record(requestId), 'state', '"waiting"')) === 1) submitted.push(request)
    await redis.hset(keys.record(requestId), 'serverId', serverId)
    await redis.set(keys.resource(serverId), requestId)
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

  const messenger = {
    post: post as never,
    find: async ({ key }: { key: string }) => {
      const answer = hooks.find?.()
      if (answer) return answer as never
      const found = posts.find((each) => each.key === key)
      return found ? { is: 'found' as const, ts: found.ts } : { is: 'absent' as const }
    },
  }

  /** Creates one process of several. */
  function replica() {
    const alerting: Alerting = {
      records: createAlertRecords({ redis: redis as never, keys, claimMs, waitMs }),
      routes,
      change: { kind: 'ip.evacuate', inputOfAlert: (both) => both, resource: (input) => (input as { serverId: string }).serverId },
      accountApi: { servers: { list, get: vi.fn() } } as never,
      copies: { servers: list as never },
      seen: { find: async () => [] },
      submit: submit as Submit,
      store: { findMany, holderOf: async (resource) => (await redis.get(keys.resource(resource))) ?? undefined },
      signatures: { verifyRecord: () => 'genuine' },
      resolveAlert: async (id) => {
        await hooks.beforeResolve?.()
        if (!(await redis.exists(keys.record(id)))) return
        resolvedRequests.push(id)
        if ((await redis.hget(keys.record(id), 'state')) === '"waiting"') await redis.hset(keys.record(id), 'state', '"withdrawn"')
      },
      messenger,
      command: '/infra',
      teamId: () => 'T0NIMBUS01',
      count: (outcome, by = 1) => count(outcome, by),
      countRefused: (reason, by = 1) => count(`refused: ${reason}`, by),
      onUnposted: (_, error) => void operators.push(error),
      onForged: (requestId) => void operators.push(`forged: ${requestId}`),
      onError: (error) => void errors.push(error),
      takeMs,
    }
    return (alerts: unknown[], signal = new AbortController().signal) => takeDelivery(alerting, read(alerts), signal)
  }

  const errors: unknown[] = []

  /** Sets the state of the request that was submitted as number `index`. */
  async function setState(index: number, state: string, more: Record<string, string> = {}): Promise<void> {
    const request = submitted[index]
    if (!request) throw new Error('nothing was submitted')
    await redis.hset(keys.record(requestIdFor(request.deliveryKey)), { state: JSON.stringify(state), ...more })
  }

  const counts = () => Object.fromEntries([...counted].filter(([, number]) => number > 0))
  return { replica, take: replica(), submitted, posts, operators, counts, hooks, resolvedRequests, setState, errors, redis, keys }
}

/** What the handling of alerts reads of a record. */
function recordIn({ id, hash }: { id: string; hash: Record<string, string> }) {
  const { state = '', decidedAt, serverId } = hash
  const at = decidedAt === undefined ? {} : { decidedAt: Number(decidedAt) }
  return { id, state: JSON.parse(state), kind: 'ip.evacuate', origin: { userId: 'alerts' }, resource: serverId, ...at }
}

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
