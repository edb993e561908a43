import { describe, expect, test } from 'vitest'
import { callerOf, connect } from '../features/machines/machines-world.ts'
import { ops, people } from '../journeys/world.ts'
import { botProgram } from '../sandbox/bot-process.ts'
import { brokenPromises } from './invariants.ts'
import { type Scene, startScene } from './scene.ts'
import { takingMachines } from './taking-machines.ts'

interface Phase {
  /** How far a move has come when it meets something. */
  in: 'request' | 'approval' | 'tracking'
  /** What it meets. Returns how often it has met that. */
  meets: (scene: Scene) => (() => number | Promise<number>) | Promise<() => number | Promise<number>>
  mend?: (scene: Scene) => unknown
}

/** A fault that delays an answer, and how often it did. */
const slowAccount = (method: string, delayMs: number) => (scene: Scene) => {
  const fault = scene.accountApi.faults.add({ method, kind: 'delay', delayMs })
  return () => fault.fired
}
const slowSlack = (isReport: boolean) => (scene: Scene) => {
  const when = (args: Record<string, unknown>) => (args.thread_ts !== undefined) === isReport
  const fault = scene.slack.faults.add({ method: 'chat.postMessage', kind: 'delay', delayMs: 4_000, when })
  return () => fault.fired
}

/** The bot itself reports that Redis does not answer. */
const missingRedis = (scene: Scene) => async () => {
  const { checks } = (await (await scene.bots.page(0, '/status')).json()) as { checks: { redis: { ok: boolean } } }
  return checks.redis.ok ? 0 : 1
}

const phases: Record<string, Phase> = {
  'a request is being recorded': { in: 'request', meets: slowAccount('GET', 2_500) },
  'its card is being posted': { in: 'request', meets: slowSlack(false) },
  'its approval is being written': {
    in: 'approval',
    meets({ proxy }) {
      const { promise: passes, resolve: pass } = Promise.withResolvers<void>()
      const isApproval = (sent: Buffer) => {
        const fits = sent.includes('"tokenName":"approve')
        if (fits) setTimeout(pass, 500)
        return fits
      }
      proxy.holdSent(isApproval, passes)
      return () => proxy.fired.held
    },
  },
  'the account API hangs on the preflight check before the write': { in: 'approval', meets: slowAccount('GET', 30_000) },
  'the account API hangs on the write': { in: 'approval', meets: slowAccount('PATCH', 30_000) },
  'its report is being posted': { in: 'approval', meets: slowSlack(true) },
  'Slack hangs, and a report is unsent': {
    in: 'approval',
    meets({ accountApi, slackProxy, elasticIp }) {
      accountApi.faults.add({ method: 'PATCH', kind: 'delay', delayMs: 1, meanwhile: slackProxy.blackhole })
      return () => (elasticIp(0).status === 'active' ? slackProxy.fired.swallowed : 0)
    },
    mend: ({ slackProxy }) => slackProxy.heal(),
  },
  'the move is tracked': { in: 'tracking', meets: (scene) => () => Number(scene.elasticIp(0).status === 'moving') },
  'Redis is gone': {
    in: 'tracking',
    meets: (scene) => scene.redis.kill().then(() => missingRedis(scene)),
    mend: ({ redis }) => redis.restart(),
  },
  'Redis freezes': {
    in: 'tracking',
    meets(scene) {
      scene.redis.freeze()
      return missingRedis(scene)
    },
    mend: ({ redis }) => redis.thaw(),
  },
  'packets to Redis vanish': {
    in: 'tracking',
    meets({ proxy }) {
      proxy.blackhole()
      return () => proxy.fired.swallowed
    },
    mend({ proxy }) {
      proxy.heal()
      proxy.reset()
    },
  },
}

const isMet = (met: () => number | Promise<number>) => expect.poll(met, { interval: 5, timeout: 60_000 }).toBeGreaterThan(0)

/** Brings a move to the moment at which SIGTERM comes. */
async function arrange(scene: Scene, { in: phase, meets }: Phase): Promise<void> {
  const { ada, ben, elasticIp, to, requestMove } = scene
  if (phase === 'tracking') {
    scene.accountApi.world.nextMove({ takesMs: 5_000 })
    await scene.startMove(0)
    return isMet(await meets(scene))
  }
  const card = phase === 'approval' ? await requestMove(0) : undefined
  const met = await meets(scene)
  await (card ? ben.click(card, 'Approve') : ada.command(`/infra ip move ${elasticIp(0).address} ${to}`, { channel: ops }))
  return isMet(met)
}

/** Ends the first bot like an orchestrator, which kills it after 10 s. */
async function expectGoodEnd({ bots }: Pick<Scene, 'bots'>): Promise<void> {
  const ended = await bots.end(0, 'SIGTERM')
  console.log(JSON.stringify({ endedMs: Math.round(ended?.ms ?? 0) }))
  expect(ended?.code, bots.log.join('\n')).toBe(0)
  expect(ended?.ms).toBeLessThan(10_000)
}

describe('SIGTERM ends the bot within 10 s with 0, and the next one finishes the move with one write and one report', () => {
  test.each(Object.entries(phases))('when %s', async (_, phase) => {
    const scene = await startScene({ moveTakesMs: 1_500 })
    await arrange(scene, phase)

    await expectGoodEnd(scene)
    await phase.mend?.(scene)
    await scene.bots.start(0)
    if (phase.in === 'request') await scene.ben.click(await scene.untilCard(0, /needs approval from/), 'Approve')

    const evidence = await scene.gather(1)
    expect(brokenPromises(evidence)).toEqual([])
    expect(evidence.records.map(({ state }) => state)).toEqual(['done'])
    expect(scene.writes()).toHaveLength(1)
  })
})

test('SIGTERM while a key is handed over finishes that before the end', async () => {
  const scene = await startScene()
  const { slack, ada, ben, accountApi } = scene
  const cardOf = (fits: RegExp) => slack.until(() => slack.messages(ops).findLast(({ text }) => /ci-deploy/.test(text) && fits.test(text)))
  await ada.command('/infra keys create ci-deploy', { channel: ops })
  await ben.click(await cardOf(/needs approval from/), 'Approve')
  const card = await cardOf(/\*Approved\.\*/)
  const met = slowAccount('POST', 1_000)(scene)
  await ada.click(card, 'Create key')
  await isMet(met)
  await expectGoodEnd(scene)
  await scene.bots.start(0)

  await scene.untilReport(card, /Done/)
  const keys = accountApi.world.data.apiKeys.filter(({ name }) => name.startsWith('ci-deploy'))
  expect(keys).toHaveLength(1)
  const isShown = ({ blocks }: { blocks?: unknown }) => JSON.stringify(blocks ?? []).includes(keys[0]?.token ?? '-')
  expect(slack.ephemerals(people.ada).filter(isShown)).toHaveLength(1)
  // The call to create the key came first.
  expect([scene.reports(card, /Done/).length, scene.reports(card).length]).toEqual([1, 2])
})

test('SIGTERM in a wait of a machine answers it, whatever waits, and ends the bot within 10 s with 0', async () => {
  const scene = await startScene({ env: takingMachines() })
  const { bots, admin, evidence } = scene
  const call = callerOf(bots.machinesUrl)
  const body = { change: 'ip.move', elastic_ip: scene.elasticIp(0).address, server: scene.to }
  const { id } = (await call('POST /v1/requests', { body, key: 'key' })).json
  const client = await connect({ urlOf: bots.machinesUrl })
  const waits = Promise.all([call(`GET /v1/requests/${id}?wait=50`), client.callTool({ name: 'get_request', arguments: { id, wait: 50 } })])
  const waiting = () => admin.zcard(evidence.keys.machineWaits('machine:ci'))
  await expect.poll(waiting).toBe(2)

  await expectGoodEnd(scene)

  // A connection that is cut would fail these.
  const [http, mcp] = await waits
  for (const answer of [http.json, mcp.structuredContent]) expect(answer).toMatchObject({ state: 'waiting' })
  expect(await waiting()).toBe(0)
})

const hanging = { kind: 'delay', delayMs: 30_000 } as const
const hungAccount = (path?: RegExp) => (scene: Scene) => {
  const fault = scene.accountApi.faults.add({ method: 'GET', path, ...hanging })
  return () => fault.fired
}
const hungSlack = (method: string) => (scene: Scene) => {
  const fault = scene.slack.faults.add({ method, ...hanging })
  return () => fault.fired
}
const hungRedis = (key: 'dataLossMark' | 'workers') => (scene: Scene) => {
  scene.proxy.holdSent((sent) => sent.includes(scene.evidence.keys[key]), new Promise(() => {}))
  return () => scene.proxy.fired.held
}
const logged = ({ bots }: Scene, text: string) => bots.log.filter((line) => line.includes(text)).length

/** What a bot meets while it starts. Each returns how often it has met that. */
const moments: Record<string, (scene: Scene) => () => number> = {
  'Redis cannot be reached'({ proxy }) {
    proxy.refuse()
    return () => proxy.fired.refused
  },
  'Redis takes connections and does not answer'({ proxy }) {
    proxy.blackhole()
    return () => proxy.fired.swallowed
  },
  'Redis cannot be reached, and people are answered already'(scene) {
    scene.proxy.refuse()
    return () => logged(scene, 'Lockkeeper is ready')
  },
  'Redis hangs on the mark': hungRedis('dataLossMark'),
  'Redis hangs on the word that a worker is there': hungRedis('workers'),
  'the account API hangs on its first answer': hungAccount(),
  'the account API hangs on the check of its key': hungAccount(/api_keys/),
  'Slack hangs on auth.test': hungSlack('auth.test'),
  'Slack hangs on opening Socket Mode': hungSlack('apps.connections.open'),
  'Slack fails, and is waited for'(scene) {
    const away = scene.slack.faults.add({ method: 'auth.test', kind: 'status', times: 1_000 })
    return () => Math.min(away.fired, logged(scene, 'Slack does not answer at'))
  },
}

describe('SIGTERM ends a bot that is still starting within 10 s with 0', () => {
  test.each(Object.entries(moments))('when %s', async (moment, meets) => {
    const scene = await startScene({ program: botProgram('main'), atOnce: 0, socketMode: moment.includes('Socket Mode') })
    const { bots } = scene
    const met = meets(scene)
    void bots.start(0)
    await expect.poll(() => met() > 0 || logged(scene, 'Lockkeeper is ready') > 0, { timeout: 60_000, interval: 5 }).toBe(true)
    // On a machine that stalls, a start can go on without the call that should hang, so it is begun once more.
    if (met() === 0) {
      await bots.kill(0)
      bots.log.length = 0
      void bots.start(0)
      await isMet(met)
    }

    await expectGoodEnd(scene)
    // Neither a defect nor an error message of the start, which would be no line of the log.
    expect(bots.log.filter((line) => /defect|requested during|^(Redis|Slack) /.test(line))).toEqual([])
  })
})
