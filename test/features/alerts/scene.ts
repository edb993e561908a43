import { vi } from 'vitest'
import type { Server } from '../../../src/account/objects.ts'
import type { Change } from '../../../src/domain/change.ts'
import { UserError } from '../../../src/domain/errors.ts'
import type { AlertRoute } from '../../../src/domain/policy.ts'
import { isOpen, openStates, type Request } from '../../../src/domain/request.ts'
import { takeDelivery } from '../../../src/features/alerts/alerts.ts'
import { type Alert, readPayload } from '../../../src/features/alerts/payload.ts'
import { senders } from '../../../src/features/index.ts'
import { requestIdFor } from '../../../src/life/submit.ts'
import type { Submit } from '../../../src/messages/submit-words.ts'
import { createRepeatedLines } from '../../../src/ops/log.ts'
import { sweepOutbox } from '../../../src/outbox/outbox.ts'
import { Refusal } from '../../../src/slack/errors.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import type { Identity, Message, Posted, Where } from '../../../src/slack/web-api.ts'
import { fakeApp } from '../../fake-app.ts'
import { connectTestRedis } from '../../given/redis.ts'
import { ruleFor } from '../../given/request.ts'
import { alert, delivery, type WireAlert } from '../../journeys/alerts-world.ts'
import { wholeList } from '../../whole-list.ts'

export const channelId = 'C0OPS00001'

export const route: AlertRoute = {
  name: 'node down',
  match: new Map([['alertname', 'NodeDown']]),
  server: 'instance',
  to: new Map([['ash', 'standby']]),
  channelId,
}

const rule = ruleFor({ name: 'failover', changes: ['ip.evacuate'], alerts: true })

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
  takeMs?: number
}

const recordScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 'exists' end
if redis.call('EXISTS', KEYS[3]) == 0 then return 'gone' end
local holder = redis.call('GET', KEYS[2])
local state = holder and redis.call('HGET', ARGV[3] .. holder, 'state')
for i = 4, #ARGV do
  if state == '"' .. ARGV[i] .. '"' then return 'busy' end
end
redis.call('HSET', KEYS[1], 'state', '"waiting"', 'serverId', ARGV[2])
redis.call('SET', KEYS[2], ARGV[1])
return 'created'`

/** The handling of alerts over a real Redis, with records of requests that have nothing but their states. */
export function arrange({ servers = defaultServers, routes = [route], takeMs }: SceneOptions = {}) {
  const { redis, keys } = connectTestRedis()
  const submitted: Parameters<Submit>[0][] = []
  const posts: (Where & { text: string })[] = []
  const updates: string[] = []
  const operators: string[] = []
  const errors: unknown[] = []
  const counted = new Map<string, number>()
  const count = (name: string, by: number) => void counted.set(name, (counted.get(name) ?? 0) + by)
  const resolvedRequests: string[] = []
  const hooks: {
    beforeList?: () => Promise<void>
    beforeResolve?: () => Promise<void>
    beforeRecord?: SubmitHook
    afterRecord?: SubmitHook
    post?: () => Posted
    afterPost?: () => Promise<void> | void
    update?: () => { is: 'unknown'; problem: string }
  } = {}

  async function findMany(ids: string[]): Promise<Request[]> {
    const found = await Promise.all(ids.map(async (id) => ({ id, hash: await redis.hgetall(keys.record(id)) })))
    return found.filter(({ hash }) => hash.state).map(recordIn) as never
  }

  /** In one script, as the store does it. */
  async function record(request: Parameters<Submit>[0], requestId: string, serverId: string): Promise<void> {
    const names = [keys.record(requestId), keys.resource(serverId), request.whileExists ?? '']
    const outcome = await redis.eval(recordScript, names.length, ...names, requestId, serverId, keys.recordPrefix, ...openStates)
    if (outcome === 'gone') throw new Refusal('not-needed', mrkdwn`It resolved.`)
    if (outcome === 'busy') throw new Refusal('locked', mrkdwn`Another request is open.`)
    if (outcome === 'created') submitted.push(request)
  }

  async function submit(request: Parameters<Submit>[0]): ReturnType<Submit> {
    await hooks.beforeRecord?.(request)
    const requestId = requestIdFor(request.deliveryKey)
    const { serverId } = request.input as { serverId: string }
    await record(request, requestId, serverId)
    await hooks.afterRecord?.(request)
    return {
      is: 'posted',
      requestId,
      title: mrkdwn`Evacuate`,
      channelId: request.origin.channelId,
    }
  }

  async function list() {
    await hooks.beforeList?.()
    return wholeList(servers)
  }

  async function post(where: Where, { text }: Message): Promise<Posted> {
    const answer = hooks.post?.()
    if (answer) return answer
    posts.push({ ...where, text })
    await hooks.afterPost?.()
    return { is: 'sent', ts: `${posts.length}.0`, channelId: where.channelId }
  }

  async function update(_: unknown, { text }: Message) {
    const answer = hooks.update?.()
    if (answer) return answer
    updates.push(text)
    return { is: 'sent' as const }
  }

  /** Lets time pass for what Redis has of alerts. */
  async function pass(ms: number): Promise<void> {
    for (const key of await redis.keys(keys.alert('*')))
      for (const [start, text] of Object.entries(await redis.hgetall(key))) {
        const { resolvedAt, ...known } = JSON.parse(text)
        await redis.hset(key, start, JSON.stringify({ ...known, ...(resolvedAt && { resolvedAt: resolvedAt - ms }) }))
      }
    for (const key of [...(await redis.keys(keys.alertsOf('*'))), ...(await redis.keys(keys.alertsWithdrawn('*')))])
      for (const name of await redis.zrange(key, '0', '-1')) await redis.zincrby(key, -ms, name)
  }

  const change = {
    kind: 'ip.evacuate',
    inputOfAlert: (both: unknown) => both,
    explain: () => ({ why: 'No Elastic IPs.' }),
    resource: (input: unknown) => (input as { serverId: string }).serverId,
  } as unknown as Change

  const app = fakeApp({
    config: { opsChannel: undefined, policy: { rules: [rule], bundles: undefined, alerts: routes }, slack: { command: '/infra' } },
    redis,
    keys,
    catalog: { changeOfAlerts: () => change },
    account: { servers: { list, get: vi.fn() } } as never,
    lists: { servers: list as never },
    assignments: { find: async () => [] },
    signatures: { verifyRecord: () => 'genuine' },
    store: {
      findMany,
      async find(id) {
        await hooks.beforeResolve?.()
        return (await findMany([id]))[0]
      },
      async take({ id, state }) {
        resolvedRequests.push(id)
        if (state === 'waiting') await redis.hset(keys.record(id), 'state', '"withdrawn"')
        // Its message cannot be shown, because there is nothing else in its record.
        return { outcome: 'won', state: undefined }
      },
      async othersFor({ resource }) {
        const found = await findMany([(await redis.get(keys.resource(resource))) ?? ''])
        return found.filter(({ state }) => isOpen(state))
      },
    },
    slack: {
      messenger: { post, update, find: async () => ({ is: 'absent' }) },
      identity: { current: () => ({ teamId: 'T0NIMBUS01' }) as Identity },
    },
    metrics: { alert: count, error: () => {} },
    lines: createRepeatedLines({
      info: () => {},
      warn: ({ error }) => void errors.push(error),
      error: (_, text) => void operators.push(text),
    }),
    errors: { of: (place) => (error) => void (place === 'alerts' && errors.push(error)) },
    senders,
    submit: submit as Submit,
  })

  /** Creates one process of several. */
  function replica() {
    return (alerts: unknown[], signal = new AbortController().signal) => takeDelivery(app, read(alerts), signal, takeMs)
  }

  /** Sends what is owed, however long it was to wait. */
  async function sweep(): Promise<void> {
    for (const member of await redis.zrange(keys.outbox, '0', '-1')) await redis.zadd(keys.outbox, 1, member)
    await sweepOutbox(app, () => {})
  }

  /** Sets the state of the request that was submitted as number `index`. */
  async function setState(index: number, state: string): Promise<void> {
    const request = submitted[index]
    if (!request) throw new Error('nothing was submitted')
    await redis.hset(keys.record(requestIdFor(request.deliveryKey)), 'state', JSON.stringify(state))
  }

  const counts = () => Object.fromEntries([...counted].filter(([, number]) => number > 0))
  return {
    replica,
    take: replica(),
    sweep,
    pass,
    submitted,
    posts,
    updates,
    operators,
    counts,
    hooks,
    resolvedRequests,
    setState,
    errors,
    redis,
    keys,
  }
}

/** What the handling of alerts reads of a record. */
function recordIn({ id, hash }: { id: string; hash: Record<string, string> }) {
  const { state = '', serverId, requester = 'alerts' } = hash
  return { id, state: JSON.parse(state), kind: 'ip.evacuate', origin: { userId: requester }, resource: serverId }
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
export const refusal = (words: string) => new UserError('wrong-usage', words)
