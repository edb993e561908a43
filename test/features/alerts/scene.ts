import { vi } from 'vitest'
import type { Server } from '../../../src/account/objects.ts'
import type { Change, Finding } from '../../../src/domain/change.ts'
import { UserError } from '../../../src/domain/errors.ts'
import type { AlertRoute } from '../../../src/domain/policy.ts'
import { takeDelivery } from '../../../src/features/alerts/alerts.ts'
import { type Alert, readPayload } from '../../../src/features/alerts/payload.ts'
import { senders } from '../../../src/features/index.ts'
import { alertsAbout, followAlerts } from '../../../src/life/history.ts'
import { requestIdFor } from '../../../src/life/submit.ts'
import type { Submit } from '../../../src/messages/submit-words.ts'
import { createRepeatedLines } from '../../../src/ops/log.ts'
import { Refusal } from '../../../src/slack/errors.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import type { Identity, Message, Posted, Where } from '../../../src/slack/web-api.ts'
import { fakeApp } from '../../fake-app.ts'
import { sweepAll } from '../../given/outbox-app.ts'
import { connectTestStore } from '../../given/redis.ts'
import { newRequestFor, ruleFor } from '../../given/request.ts'
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
}

/** The handling of alerts over a real Redis. Instead of a check and a rule there are hooks, and no request message is shown. */
export function arrange({ servers = defaultServers, routes = [route] }: SceneOptions = {}) {
  const { redis, keys, store } = connectTestStore()
  const submitted: (Parameters<Submit>[0] & { warnings: Finding[] })[] = []
  const posts: (Where & { text: string })[] = []
  const updates: string[] = []
  const counted = new Map<string, number>()
  const count = (name: string, by: number) => void counted.set(name, (counted.get(name) ?? 0) + by)
  const resolvedRequests: string[] = []
  const taken: string[] = []
  const owed: string[] = []
  const hooks: {
    beforeList?: () => Promise<void>
    beforeResolve?: () => Promise<void>
    afterResolveRead?: (state: string | undefined) => Promise<void>
    afterFind?: () => Promise<void>
    beforeWarn?: () => Promise<void>
    beforeTake?: () => Promise<void>
    beforeRecord?: SubmitHook
    afterRecord?: SubmitHook
    post?: () => Posted
    afterPost?: () => Promise<void> | void
    beforeUpdate?: () => Promise<void>
    update?: () => { is: 'unknown'; problem: string }
  } = {}

  async function submit(request: Parameters<Submit>[0]): ReturnType<Submit> {
    const { origin, input, deliveryKey, whileExists } = request
    const warnings = await alertsAbout(app, targetOf({ input }))
    await hooks.beforeRecord?.(request)
    const [requestId, resource] = [requestIdFor(deliveryKey), change.resource(input)]
    const { outcome } = await store.create(newRequestFor({ id: requestId, kind: change.kind, input, origin, resource, warnings }), {
      whileExists,
    })
    if (outcome === 'gone') throw new Refusal('not-needed', mrkdwn`It resolved.`)
    if (outcome === 'busy') throw new Refusal('locked', mrkdwn`Another request is open.`)
    if (outcome === 'created') submitted.push({ ...request, warnings })
    await followAlerts(app, await store.find(requestId))
    await hooks.afterRecord?.(request)
    return { is: 'posted', requestId, title: mrkdwn`Evacuate`, channelId: origin.channelId }
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
    await hooks.beforeUpdate?.()
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

  const targetOf = ({ input }: { input: unknown }) =>
    servers.filter(({ id }) => id === (input as { targetId: string }).targetId).map(({ id, hostname = id }) => ({ id, name: hostname }))[0]

  const app = fakeApp({
    config: { opsChannel: undefined, policy: { rules: [rule], bundles: undefined, alerts: routes }, slack: { command: '/infra' } },
    redis,
    keys,
    catalog: { changeOfAlerts: () => change, targetOf },
    account: { servers: { list, get: vi.fn() } } as never,
    lists: { servers: list as never },
    assignments: { find: async () => [] },
    signatures: { verifyRecord: () => 'genuine' },
    store: {
      ...store,
      async find(id) {
        await hooks.beforeResolve?.()
        const found = await store.find(id)
        await hooks.afterResolveRead?.(found?.state)
        return found
      },
      async findMany(ids) {
        const found = await store.findMany(ids)
        await hooks.afterFind?.()
        return found
      },
      async take(request, ...step) {
        if (step[0] === 'warn') await hooks.beforeWarn?.()
        if (!step[0].startsWith('warn')) resolvedRequests.push(request.id)
        await hooks.beforeTake?.()
        const result = await store.take(request, ...step)
        if (result.outcome === 'won') taken.push(step[0])
        if (result.outcome === 'won') owed.push(...(step[1]?.reports ?? []))
        return result
      },
    },
    slack: {
      messenger: { post, update, find: async () => ({ is: 'absent' }) },
      identity: { current: () => ({ teamId: 'T0NIMBUS01' }) as Identity },
    },
    metrics: { alert: count, error: () => {} },
    lines: createRepeatedLines({
      info: () => {},
      warn: () => {},
      error: () => {},
    }),
    errors: { of: () => () => {} },
    senders,
    submit: submit as Submit,
  })

  /** Creates one process of several. */
  function replica() {
    return (alerts: unknown[], signal = new AbortController().signal) => takeDelivery(app, read(alerts), signal)
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
    sweep: () => sweepAll(app),
    pass,
    submitted,
    posts,
    updates,
    counts,
    hooks,
    resolvedRequests,
    taken,
    owed,
    setState,
    redis,
    keys,
  }
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
