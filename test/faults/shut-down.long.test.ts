import { describe, expect, test } from 'vitest'
import { ops, people } from '../journeys/world.ts'
import { brokenPromises } from './invariants.ts'
import { type Scene, startScene } from './scene.ts'

interface Phase {
  /** Brings a request to where SIGTERM meets it. Gives how often its fault has fired. */
  arrange: (scene: Scene) => Promise<() => number>
  /** What stood in the way is gone, before the next process starts. */
  mend?: (scene: Scene) => Promise<void>
  /** What people still have to do. */
  finish?: (scene: Scene) => Promise<void>
}

const approveAtLast = async (scene: Scene) => void (await scene.ben.click(await scene.untilCard(0, /Waiting for approval/), 'Approve'))
const once = () => 1
const isReport = (args: Record<string, unknown>) => args.thread_ts !== undefined

const phases: Record<string, Phase> = {
  'a request is being recorded': {
    async arrange({ account, slack, ada, elasticIp, to }) {
      const slow = account.faults.add({ method: 'GET', kind: 'delay', delayMs: 2_500 })
      await ada.command(`/infra ip move ${elasticIp(0).address} ${to}`, { channel: ops })
      await expect.poll(() => slow.fired).toBe(1)
      expect(slack.messages(ops)).toEqual([])
      return () => slow.fired
    },
    finish: approveAtLast,
  },
  'its card is being posted': {
    async arrange({ slack, ada, elasticIp, to }) {
      const slow = slack.faults.add({ method: 'chat.postMessage', kind: 'delay', delayMs: 4_000 })
      await ada.command(`/infra ip move ${elasticIp(0).address} ${to}`, { channel: ops })
      await expect.poll(() => slow.fired).toBe(1)
      return () => slow.fired
    },
    finish: approveAtLast,
  },
  'its approval is being written': {
    async arrange({ admin, ask, ben, evidence }) {
      const card = await ask(0)
      await admin.client('PAUSE', 800, 'WRITE')
      await ben.click(card, 'Approve')
      expect((await evidence.records()).map(({ state }) => state)).toEqual(['waiting'])
      return once
    },
  },
  'the account API hangs on the look before the write': {
    async arrange({ account, ask, ben, elasticIp }) {
      const card = await ask(0)
      const hung = account.faults.add({ method: 'GET', path: new RegExp(elasticIp(0).id), kind: 'delay', delayMs: 30_000 })
      await ben.click(card, 'Approve')
      await expect.poll(() => hung.fired, { timeout: 5_000 }).toBe(1)
      return () => hung.fired
    },
  },
  'the account API hangs on the write': {
    async arrange({ account, ask, ben }) {
      const card = await ask(0)
      const hung = account.faults.add({ method: 'PATCH', kind: 'delay', delayMs: 30_000 })
      await ben.click(card, 'Approve')
      await expect.poll(() => hung.fired, { timeout: 5_000 }).toBe(1)
      return () => hung.fired
    },
  },
  'it is followed': {
    async arrange({ startMove }) {
      await startMove(0)
      return once
    },
  },
  'its report is being posted': {
    async arrange({ slack, ask, ben }) {
      const card = await ask(0)
      const slow = slack.faults.add({ method: 'chat.postMessage', kind: 'delay', delayMs: 4_000, when: isReport })
      await ben.click(card, 'Approve')
      await expect.poll(() => slow.fired, { timeout: 10_000 }).toBe(1)
      return () => slow.fired
    },
  },
  'Slack hangs, and a report is owed': {
    async arrange({ slackProxy, writes, ask, ben, account }) {
      await ben.click(await ask(0), 'Approve')
      await expect.poll(() => writes().length, { timeout: 5_000 }).toBe(1)
      slackProxy.blackhole()
      await expect.poll(() => account.world.elasticIps()[0]?.status, { timeout: 5_000 }).toBe('active')
      await expect.poll(() => slackProxy.fired.swallowed, { timeout: 5_000 }).toBeGreaterThan(0)
      return () => Math.min(1, slackProxy.fired.swallowed)
    },
    mend: async ({ slackProxy }) => slackProxy.heal(),
  },
  'Redis is gone': {
    async arrange({ startMove, redis }) {
      await startMove(0)
      await redis.kill()
      return once
    },
    mend: ({ redis }) => redis.restart(),
  },
  'Redis stands still': {
    async arrange({ startMove, redis }) {
      await startMove(0)
      redis.freeze()
      return once
    },
    mend: async ({ redis }) => redis.thaw(),
  },
  'packets to Redis vanish': {
    async arrange({ startMove, proxy }) {
      await startMove(0)
      proxy.blackhole()
      await expect.poll(() => proxy.fired.swallowed).toBeGreaterThan(0)
      return once
    },
    mend: async ({ proxy }) => {
      proxy.heal()
      proxy.reset()
    },
  },
}

/** Ends the first bot as an orchestrator does, which would kill it after 10 s, and starts the next. */
async function replaceBot(scene: Scene, mend: Phase['mend']): Promise<void> {
  const ended = await scene.bots.end(0, 'SIGTERM')
  expect(ended?.code).toBe(0)
  expect(ended?.ms).toBeLessThan(10_000)
  console.log(JSON.stringify({ endedMs: Math.round(ended?.ms ?? 0) }))
  await mend?.(scene)
  await scene.bots.start(0)
}

describe('SIGTERM ends the bot within 10 s with 0, and the next one finishes the move with one write and one report', () => {
  test.each(Object.entries(phases))(
    'when %s',
    async (_, { arrange, mend, finish }) => {
      const scene = await startScene({ moveTakesMs: 1_500 })
      const fired = await arrange(scene)

      await replaceBot(scene, mend)
      await finish?.(scene)

      const evidence = await scene.gather(1, 40_000)
      expect(brokenPromises(evidence)).toEqual([])
      expect(evidence.records.map(({ state }) => state)).toEqual(['done'])
      expect(scene.writes()).toHaveLength(1)
      expect(fired()).toBe(1)
    },
    90_000,
  )
})

describe('SIGTERM while a key is handed over', () => {
  const keysMade = ({ account }: Scene) => account.world.data.apiKeys.filter(({ name }) => name.startsWith('ci-deploy'))

  /** Ada's key is approved, and made by an account API that is so slow to answer. */
  async function startHandOver(scene: Scene, delayMs: number) {
    await scene.ada.command('/infra keys create ci-deploy', { channel: ops })
    const isCard = (fits: RegExp) => scene.slack.messages(ops).findLast(({ text }) => /ci-deploy/.test(text) && fits.test(text))
    await scene.ben.click(await scene.slack.until(() => isCard(/Waiting for approval/)), 'Approve')
    const card = await scene.slack.until(() => isCard(/\*Approved\.\*/))
    const slow = scene.account.faults.add({ method: 'POST', kind: 'delay', delayMs })
    await scene.ada.click(card, 'Create and show')
    await expect.poll(() => slow.fired, { timeout: 5_000 }).toBe(1)
    expect(keysMade(scene)).toHaveLength(1)
    return card
  }

  test('what is under way is shown before the end', async () => {
    const scene = await startScene()
    const card = await startHandOver(scene, 1_000)
    await replaceBot(scene, undefined)

    await scene.untilReport(card, /Done/)
    const [key] = keysMade(scene)
    const seen = scene.slack.ephemerals(people.ada).filter(({ blocks }) => JSON.stringify(blocks ?? []).includes(key?.token ?? '-'))
    expect(seen).toHaveLength(1)
    expect(scene.reports(card)).toHaveLength(1)
  }, 60_000)

  test('what was made and can no longer be shown is made worthless by the next one', async () => {
    const scene = await startScene()
    const card = await startHandOver(scene, 30_000)
    const [key] = keysMade(scene)
    await replaceBot(scene, undefined)

    const report = await scene.untilReport(card, /Failed/, 40_000)
    expect(report.text).toMatch(/nobody has seen/)
    expect(keysMade(scene)).toEqual([])
    expect(JSON.stringify(scene.slack.journal)).not.toContain(key?.token)
    expect(scene.bots.log.join('\n')).not.toContain(key?.token)
  }, 60_000)
})
