import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { ops, people } from '../journeys/world.ts'
import { brokenPromises } from './invariants.ts'
import { type Scene, startScene } from './scene.ts'
import type { TcpProxy } from './tcp-proxy.ts'

interface Phase {
  /** Brings a request to the point where SIGTERM comes. Returns a function that counts how often that point was reached. */
  arrange: (scene: Scene) => Promise<() => number>
  mend?: (scene: Scene) => Promise<void>
  finish?: (scene: Scene) => Promise<void>
}

const approveAtLast = async (scene: Scene) => void (await scene.ben.click(await scene.untilCard(0, /needs approval from/), 'Approve'))

async function countIn(state: string, { evidence }: Scene): Promise<number> {
  return (await evidence.records()).filter((record) => record.state === state).length
}

/** Returns 1 once the bot itself reports that Redis does not answer. */
async function countMissingRedis({ bots }: Scene): Promise<number> {
  const { checks } = (await (await bots.page(0, '/status')).json()) as { checks: { redis: { ok: boolean } } }
  return checks.redis.ok ? 0 : 1
}

/** Resolves once the fault has happened. */
async function happened(fault: { readonly fired: number }): Promise<() => number> {
  await expect.poll(() => fault.fired, { interval: 5 }).toBe(1)
  return () => fault.fired
}

/** A move is approved, and meets this fault. */
function approvedInto(plan: (scene: Scene) => { readonly fired: number }): Phase['arrange'] {
  return async (scene) => {
    const card = await scene.requestMove(0)
    const fault = plan(scene)
    await scene.ben.click(card, 'Approve')
    return happened(fault)
  }
}

/** A move that outlasts the bot is tracked, and then this happens, once. */
function trackedUntil(disturb: (scene: Scene) => Promise<number>): Phase['arrange'] {
  return async (scene) => {
    scene.accountApi.world.nextMove({ takesMs: 5_000 })
    await scene.startMove(0)
    const count = (await countIn('tracking', scene)) * (await disturb(scene))
    return () => count
  }
}

async function swallowed({ fired }: TcpProxy): Promise<number> {
  await expect.poll(() => fired.swallowed).toBeGreaterThan(0)
  return 1
}

const phases: Record<string, Phase> = {
  'a request is being recorded': {
    async arrange({ accountApi, slack, ada, elasticIp, to }) {
      const slow = accountApi.faults.add({ method: 'GET', kind: 'delay', delayMs: 2_500 })
      await ada.command(`/infra ip move ${elasticIp(0).address} ${to}`, { channel: ops })
      const fired = await happened(slow)
      expect(slack.messages(ops)).toEqual([])
      return fired
    },
    finish: approveAtLast,
  },
  'its card is being posted': {
    async arrange({ slack, ada, elasticIp, to }) {
      const slow = slack.faults.add({ method: 'chat.postMessage', kind: 'delay', delayMs: 4_000 })
      await ada.command(`/infra ip move ${elasticIp(0).address} ${to}`, { channel: ops })
      return happened(slow)
    },
    finish: approveAtLast,
  },
  'its approval is being written': {
    async arrange(scene) {
      const { proxy, requestMove, ben } = scene
      const card = await requestMove(0)
      const { promise: passes, resolve: shiftTimes } = Promise.withResolvers<void>()
      proxy.holdSent((sent) => sent.includes('"tokenName":"approve'), passes)
      await ben.click(card, 'Approve')
      await expect.poll(() => proxy.fired.held, { interval: 5 }).toBe(1)
      expect(await countIn('waiting', scene)).toBe(1)
      setTimeout(shiftTimes, 500)
      return () => proxy.fired.held
    },
  },
  'the account API hangs on the preflight check before the write': {
    arrange: approvedInto(({ accountApi, elasticIp }) =>
      accountApi.faults.add({ method: 'GET', path: new RegExp(elasticIp(0).id), kind: 'delay', delayMs: 30_000 }),
    ),
  },
  'the account API hangs on the write': {
    arrange: approvedInto(({ accountApi }) => accountApi.faults.add({ method: 'PATCH', kind: 'delay', delayMs: 30_000 })),
  },
  'the move is tracked': { arrange: trackedUntil(async (scene) => (scene.elasticIp(0).status === 'moving' ? 1 : 0)) },
  'its report is being posted': {
    arrange: approvedInto(({ slack }) =>
      slack.faults.add({ method: 'chat.postMessage', kind: 'delay', delayMs: 4_000, when: (args) => args.thread_ts !== undefined }),
    ),
  },
  'Slack hangs, and a report is unsent': {
    async arrange({ slackProxy, writes, requestMove, ben, accountApi }) {
      await ben.click(await requestMove(0), 'Approve')
      await expect.poll(() => writes().length).toBe(1)
      slackProxy.blackhole()
      await expect.poll(() => accountApi.world.elasticIps()[0]?.status).toBe('active')
      const count = await swallowed(slackProxy)
      return () => count
    },
    mend: async ({ slackProxy }) => slackProxy.heal(),
  },
  'Redis is gone': {
    arrange: trackedUntil(async (scene) => {
      await scene.redis.kill()
      return countMissingRedis(scene)
    }),
    mend: ({ redis }) => redis.restart(),
  },
  'Redis freezes': {
    arrange: trackedUntil(async (scene) => {
      scene.redis.freeze()
      return countMissingRedis(scene)
    }),
    mend: async ({ redis }) => redis.thaw(),
  },
  'packets to Redis vanish': {
    arrange: trackedUntil(async ({ proxy }) => {
      proxy.blackhole()
      return swallowed(proxy)
    }),
    mend: async ({ proxy }) => {
      proxy.heal()
      proxy.reset()
    },
  },
}

/** Ends the first bot like an orchestrator, which kills it after 10 s, and starts the next one. */
async function replaceBot(scene: Scene, mend: Phase['mend']): Promise<void> {
  const ended = await scene.bots.end(0, 'SIGTERM')
  expect(ended?.code).toBe(0)
  expect(ended?.ms).toBeLessThan(10_000)
  console.log(JSON.stringify({ endedMs: Math.round(ended?.ms ?? 0) }))
  await mend?.(scene)
  await scene.bots.start(0)
}

describe('SIGTERM ends the bot within 10 s with 0, and the next one finishes the move with one write and one report', () => {
  test.each(Object.entries(phases))('when %s', async (_, { arrange, mend, finish }) => {
    const scene = await startScene({ moveTakesMs: 1_500 })
    const fired = await arrange(scene)

    await replaceBot(scene, mend)
    await finish?.(scene)

    const evidence = await scene.gather(1)
    expect(brokenPromises(evidence)).toEqual([])
    expect(evidence.records.map(({ state }) => state)).toEqual(['done'])
    expect(scene.writes()).toHaveLength(1)
    expect(fired()).toBe(1)
  })
})

describe('SIGTERM while a key is handed over', () => {
  const keysMade = ({ accountApi }: Scene) => accountApi.world.data.apiKeys.filter(({ name }) => name.startsWith('ci-deploy'))

  async function startHandOver(scene: Scene, delayMs: number) {
    await scene.ada.command('/infra keys create ci-deploy', { channel: ops })
    const isCard = (fits: RegExp) => scene.slack.messages(ops).findLast(({ text }) => /ci-deploy/.test(text) && fits.test(text))
    await scene.ben.click(await scene.slack.until(() => isCard(/needs approval from/)), 'Approve')
    const card = await scene.slack.until(() => isCard(/\*Approved\.\*/))
    const slow = scene.accountApi.faults.add({ method: 'POST', kind: 'delay', delayMs })
    await scene.ada.click(card, 'Create key')
    await expect.poll(() => slow.fired).toBe(1)
    expect(keysMade(scene)).toHaveLength(1)
    return card
  }

  test('a running hand-over is finished before the end', async () => {
    const scene = await startScene()
    const card = await startHandOver(scene, 1_000)
    await replaceBot(scene, undefined)

    await scene.untilReport(card, /Done/)
    const [key] = keysMade(scene)
    const seen = scene.slack.ephemerals(people.ada).filter(({ blocks }) => JSON.stringify(blocks ?? []).includes(key?.token ?? '-'))
    expect(seen).toHaveLength(1)
    // The call to create the key came first.
    expect(scene.reports(card, /Done/)).toHaveLength(1)
    expect(scene.reports(card)).toHaveLength(2)
  })
})

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** Prepares the bot as it runs in production, without starting it. */
async function arrangeStart({ socketMode = false, env = {} }: { socketMode?: boolean; env?: Record<string, string> } = {}) {
  const scene = await startScene({ program: main, atOnce: 0, socketMode, env })
  const holdRedis = (key: 'dataLossMark' | 'workers') => {
    scene.proxy.holdSent((sent) => sent.includes(scene.evidence.keys[key]), new Promise(() => {}))
    return () => scene.proxy.fired.held
  }
  return { ...scene, holdRedis }
}
type Start = Awaited<ReturnType<typeof arrangeStart>>

/**
 * Starts the bot and waits until it meets the fault. Before it listens for signals, nothing shows from outside. On a machine that stalls, a start
 * can go on without the call that should hang, so it is begun once more.
 */
async function startUntil(fired: () => number, { bots }: Pick<Start, 'bots'>): Promise<void> {
  void bots.start(0)
  const hasMet = () => fired() > 0 || bots.log.some((line) => line.includes('Lockkeeper is ready'))
  await expect.poll(hasMet, { timeout: 60_000, interval: 5 }).toBe(true)
  if (fired() === 0)
    await expect
      .poll(fired, { timeout: 2_000, interval: 5 })
      .toBeGreaterThan(0)
      .catch(() => {})
  if (fired() > 0) return
  await bots.kill(0)
  bots.log.length = 0
  void bots.start(0)
  await expect.poll(fired, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0)
}

function expectGoodEnd({ bots }: Pick<Start, 'bots'>, ended: Awaited<ReturnType<Start['bots']['end']>>): void {
  console.log(JSON.stringify({ endedMs: Math.round(ended?.ms ?? 0) }))
  expect(ended?.code, bots.log.join('\n')).toBe(0)
  expect(ended?.ms).toBeLessThan(10_000)
  // Neither a defect nor an error message of the start, which would be no line of the log.
  expect(bots.log.filter((line) => /defect|requested during|^(Redis|Slack) /.test(line))).toEqual([])
}

/** The moments of a start at which SIGTERM comes. Each causes a fault, and returns a function that counts how often the start met it. */
const moments: Record<string, (start: Start) => () => number> = {
  'Redis cannot be reached': ({ proxy }) => {
    proxy.refuse()
    return () => proxy.fired.refused
  },
  'Redis takes connections and does not answer': ({ proxy }) => {
    proxy.blackhole()
    return () => proxy.fired.swallowed
  },
  'Redis cannot be reached, and people are answered already': ({ proxy, bots }) => {
    proxy.refuse()
    return () => bots.log.filter((line) => line.includes('Lockkeeper is ready')).length
  },
  'Redis hangs on the mark': ({ holdRedis }) => holdRedis('dataLossMark'),
  'the account API hangs on its first answer': ({ accountApi }) => hung(accountApi.faults.add({ method: 'GET', ...hanging })),
  'Slack hangs on auth.test': ({ slack }) => hung(slack.faults.add({ method: 'auth.test', ...hanging })),
  'Slack fails, and is waited for': ({ slack, bots }) => {
    const away = slack.faults.add({ method: 'auth.test', kind: 'status', times: 1_000 })
    return () => Math.min(away.fired, bots.log.filter((line) => line.includes('Slack does not answer at')).length)
  },
  'the account API hangs on the check of its key': ({ accountApi }) =>
    hung(accountApi.faults.add({ method: 'GET', path: /api_keys/, ...hanging })),
  'Slack hangs on opening Socket Mode': ({ slack }) => hung(slack.faults.add({ method: 'apps.connections.open', ...hanging })),
  'Redis hangs on the word that a worker is there': ({ holdRedis }) => holdRedis('workers'),
}
const hanging = { kind: 'delay', delayMs: 30_000 } as const
const hung = (fault: { readonly fired: number }) => () => fault.fired

describe('SIGTERM ends a bot that is still starting within 10 s with 0', () => {
  test.each(Object.entries(moments))('when %s', async (moment, arrange) => {
    const start = await arrangeStart({ socketMode: moment.includes('Socket Mode') })
    await startUntil(arrange(start), start)

    const ended = await start.bots.end(0, 'SIGTERM')

    expectGoodEnd(start, ended)
  })
})
