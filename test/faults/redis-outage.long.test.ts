import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ops, people } from '../journeys/world.ts'
import { brokenPromises } from './invariants.ts'
import { type Scene, startScene } from './scene.ts'

/** Moves of every phase, by their index; the last is asked for while Redis is away. */
const [waiting, approved, outdated, starting, following, owed, unheard] = [0, 1, 2, 3, 4, 5, 6]

/** Has one request in each phase, and gives how to let Slack take the report that is owed, and looks at the account pass. */
async function startEveryPhase(scene: Scene) {
  const { account, slack } = scene
  account.world.nextMove({ takesMs: 300 })
  const report = slack.faults.add({
    method: 'chat.postMessage',
    kind: 'status',
    times: 1_000,
    when: (args) => args.thread_ts !== undefined,
  })
  const cards = [await scene.ask(waiting), await scene.ask(approved), await scene.ask(outdated), await scene.ask(starting)]
  const isOf = (index: number) => new RegExp(scene.elasticIp(index).id)
  await scene.ben.click(await scene.ask(owed), 'Approve')
  await slack.until(() => report.fired > 0, { timeoutMs: 15_000, what: 'a report that Slack does not take' })
  await scene.startMove(following)
  // Two may look at the same time, the wake-up and a tick: none of them gets through to its write.
  const slowLook = { method: 'GET', kind: 'delay', delayMs: 3_000, times: 1_000 } as const
  const looks = [approved, outdated].map((index) => account.faults.add({ ...slowLook, path: isOf(index) }))
  const write = account.faults.add({ method: 'PATCH', path: isOf(starting), kind: 'delay', delayMs: 3_000 })
  for (const card of cards.slice(1)) await scene.ben.click(card, 'Approve')
  await expect.poll(() => [...looks, write].every(({ fired }) => fired > 0), { timeout: 10_000, interval: 20 }).toBe(true)
  return () => {
    report.remove()
    account.faults.clear()
  }
}

const away = /I cannot reach my memory \(Redis\) just now/

/** Everything that people try meanwhile is answered, and how long the longest answer took, in ms. */
async function askInVain(scene: Scene, listed: RegExp = away): Promise<number> {
  const { slack } = scene
  const card = await scene.untilCard(waiting, /Waiting for approval/)
  const tries = [
    {
      who: people.ada,
      answer: away,
      act: () => scene.ada.command(`/infra ip move ${scene.elasticIp(unheard).id} ${scene.to}`, { channel: ops }),
    },
    { who: people.ben, answer: away, act: () => scene.ben.click(card, 'Approve') },
    { who: people.chiara, answer: listed, act: () => scene.chiara.command('/infra pending', { channel: ops }) },
  ]
  const took = await Promise.all(
    tries.map(async ({ who, answer, act }) => {
      const before = slack.ephemerals(who).length
      const startedAt = performance.now()
      await act()
      const isAnswer = ({ text }: { text: string }) => answer.test(text)
      await slack.until(() => slack.ephemerals(who).slice(before).find(isAnswer), { what: `an answer to ${who}` })
      return performance.now() - startedAt
    }),
  )
  return Math.max(...took)
}

/** Ada and Ben do again what they were told to try again: what went through all the same is not done twice. */
async function tryAgain(scene: Scene): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    await scene.ada.command(`/infra ip move ${scene.elasticIp(unheard).id} ${scene.to}`, { channel: ops })
    const cards = await Promise.all([waiting, unheard].map((index) => scene.untilCard(index, /./, 1_000).catch(() => undefined)))
    const undecided = cards.filter((card) => !card || /Waiting for approval/.test(card.text))
    if (undecided.length === 0) return
    for (const card of undecided) if (card) await scene.ben.click(card, 'Approve')
    await delay(300)
  }
}

interface Outage {
  begin: (scene: Scene) => Promise<void>
  end: (scene: Scene) => Promise<void>
  /** How often the bot has felt it. */
  felt: (scene: Scene) => number
  /** Within which everything has gone on, and 2 s later people can act again. */
  resumesMs: number
  /** What `/infra pending` answers. */
  listed?: RegExp
}

const outages: Record<string, Outage> = {
  'is killed': {
    begin: ({ redis }: Scene) => redis.kill(),
    end: ({ redis }: Scene) => redis.restart(),
    felt: ({ bots }: Scene) => bots.log.filter((line) => line.includes('Redis does not answer')).length,
    resumesMs: 6_000,
  },
  'stands still': {
    begin: async ({ redis }: Scene) => redis.freeze(),
    end: async ({ redis }: Scene) => redis.thaw(),
    felt: ({ bots }: Scene) => bots.log.filter((line) => line.includes('Redis does not answer')).length,
    resumesMs: 6_000,
  },
  'is behind a connection on which packets vanish': {
    begin: async ({ proxy }: Scene) => proxy.blackhole(),
    end: async ({ proxy }: Scene) => proxy.heal(),
    felt: ({ proxy }: Scene) => proxy.fired.swallowed,
    // A connection that nobody answers is given up after 15 s of silence, which may begin shortly before the end.
    resumesMs: 20_000,
  },
  'is full': {
    begin: async ({ admin }: Scene) => void (await admin.config('SET', 'maxmemory', '1')),
    end: async ({ admin }: Scene) => void (await admin.config('SET', 'maxmemory', '0')),
    felt: ({ bots }: Scene) => bots.log.filter((line) => line.includes('OOM')).length,
    resumesMs: 20_000,
    // What only reads goes on.
    listed: /1 waiting for approval/,
  },
}

describe('Redis away for half a minute, with requests in every phase', () => {
  test.each(Object.entries(outages))(
    'it %s: people are told within 3 s, and afterwards everything goes on by itself, once',
    async (_, { begin, end, felt, resumesMs, listed }) => {
      const scene = await startScene({ moveTakesMs: 10_000 })
      const letThrough = await startEveryPhase(scene)

      await begin(scene)
      const answers = [await askInVain(scene, listed)]
      // Somebody else moves one of them on, while an approval of it is under way.
      const { id } = scene.elasticIp(outdated)
      scene.account.world.moveBehindOurBack(id, scene.account.world.third(id).id)
      letThrough()
      // Time is the fault here.
      await delay(14_000)
      answers.push(await askInVain(scene, listed))
      await delay(14_000)
      expect(felt(scene)).toBeGreaterThan(0)
      expect(scene.writes()).toHaveLength(3)
      await end(scene)
      const backAt = performance.now()

      await scene.slack.until(() => scene.writes().length === 4, { timeoutMs: 30_000, what: 'the write of what was approved' })
      for (const index of [starting, following, owed]) await scene.untilCard(index, /\*Done/, 30_000)
      await scene.untilCard(outdated, /nothing was done/, 30_000)
      const resumedMs = performance.now() - backAt
      await tryAgain(scene)
      const usableMs = performance.now() - backAt
      const evidence = await scene.gather(7, 30_000)

      console.log(
        JSON.stringify({
          answersMs: answers.map(Math.round),
          resumedMs: Math.round(resumedMs),
          usableMs: Math.round(usableMs),
          felt: felt(scene),
        }),
      )
      expect(brokenPromises(evidence)).toEqual([])
      expect(Math.max(...answers)).toBeLessThan(3_000)
      expect(resumedMs).toBeLessThan(resumesMs)
      expect(usableMs).toBeLessThan(resumesMs + 2_000)
      expect(scene.writes()).toHaveLength(6)
    },
    150_000,
  )
})
