import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ops, people } from '../journeys/world.ts'
import { onRack, requestEvacuation, untilEvacuation, writesOf } from './evacuations.ts'
import { brokenPromises } from './invariants.ts'
import { type Scene, startScene } from './scene.ts'

/** A move for each phase, by index. The last one is requested while Redis is away. */
const [waiting, approved, outdated, starting, following, unsent, requestedDuring] = [0, 1, 2, 3, 4, 5, 6]

/** Starts one request in each phase. Returns a function that lets the unsent report and the held reads of the account pass. */
async function startEveryPhase(scene: Scene) {
  const { accountApi, slack } = scene
  accountApi.world.nextMove({ takesMs: 300 })
  const report = slack.faults.add({
    method: 'chat.postMessage',
    kind: 'status',
    times: 1_000,
    when: (args) => args.thread_ts !== undefined,
  })
  const evacuation = await requestEvacuation(scene, 0)
  const cards = [
    await scene.requestMove(waiting),
    await scene.requestMove(approved),
    await scene.requestMove(outdated),
    await scene.requestMove(starting),
  ]
  const isOf = (index: number) => new RegExp(scene.elasticIp(index).id)
  await scene.ben.click(await scene.requestMove(unsent), 'Approve')
  await slack.until(() => report.fired > 0, { what: 'a report that Slack does not take' })
  await scene.startMove(following)
  // The wake-up and a tick may read at the same time. Neither of them gets to its write.
  const slowRead = { method: 'GET', kind: 'delay', delayMs: 3_000, times: 1_000 } as const
  const reads = [approved, outdated].map((index) => accountApi.faults.add({ ...slowRead, path: isOf(index) }))
  const write = accountApi.faults.add({ method: 'PATCH', path: isOf(starting), kind: 'delay', delayMs: 3_000 })
  const someWrites = accountApi.faults.add({ method: 'PATCH', path: onRackPath(scene), kind: 'delay', delayMs: 3_000, times: 5 })
  for (const card of [...cards.slice(1), evacuation]) await scene.ben.click(card, 'Approve')
  const begun = () => someWrites.fired === 5 && [...reads, write].every(({ fired }) => fired > 0)
  await expect.poll(begun, { timeout: 10_000, interval: 20 }).toBe(true)
  return () => {
    report.remove()
    accountApi.faults.clear()
  }
}

/** The addresses of an evacuation that is under way: five writes are unanswered when Redis goes away, and two are not sent. */
const onRackPath = (scene: Scene) =>
  new RegExp(
    onRack(scene, 0)
      .map(({ id }) => id)
      .join('|'),
  )

const movesIn = (scene: Scene) => scene.writes().filter(({ path }) => !onRackPath(scene).test(path))

const away = /(?:Lockkeeper's database \(Redis\)|Not approved: Redis) isn't responding/

/** Tries everything while Redis is away, and waits for the answers. Returns how long the slowest one took, in ms. */
async function tryInVain(scene: Scene, { refused = away, listed = refused }: Pick<Outage, 'refused' | 'listed'>): Promise<number> {
  const { slack } = scene
  const card = await scene.untilCard(waiting, /needs approval from/)
  const tries = [
    {
      who: people.ada,
      answer: refused,
      act: () => scene.ada.command(`/infra ip move ${scene.elasticIp(requestedDuring).id} ${scene.to}`, { channel: ops }),
    },
    { who: people.ben, answer: refused, act: () => scene.ben.click(card, 'Approve') },
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

/** Ada and Ben follow the advice to try again. What took effect before is not done twice. */
async function tryAgain(scene: Scene): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    await scene.ada.command(`/infra ip move ${scene.elasticIp(requestedDuring).id} ${scene.to}`, { channel: ops })
    const cards = await Promise.all([waiting, requestedDuring].map((index) => scene.untilCard(index, /./, 1_000).catch(() => undefined)))
    const undecided = cards.filter((card) => !card || /needs approval from/.test(card.text))
    if (undecided.length === 0) return
    for (const card of undecided) if (card) await scene.ben.click(card, 'Approve')
    await delay(300)
  }
}

interface Outage {
  begin: (scene: Scene) => Promise<void>
  end: (scene: Scene) => Promise<void>
  countEffects: (scene: Scene) => number
  refused?: RegExp | undefined
  listed?: RegExp | undefined
}

const outages: Record<string, Outage> = {
  'is killed': {
    begin: ({ redis }: Scene) => redis.kill(),
    end: ({ redis }: Scene) => redis.restart(),
    countEffects: ({ bots }: Scene) => bots.log.filter((line) => line.includes("Redis isn't responding")).length,
  },
  freezes: {
    begin: async ({ redis }: Scene) => redis.freeze(),
    end: async ({ redis }: Scene) => redis.thaw(),
    countEffects: ({ bots }: Scene) => bots.log.filter((line) => line.includes("Redis isn't responding")).length,
  },
  'is behind a connection on which packets vanish': {
    begin: async ({ proxy }: Scene) => proxy.blackhole(),
    end: async ({ proxy }: Scene) => proxy.heal(),
    countEffects: ({ proxy }: Scene) => proxy.fired.swallowed,
  },
  'is full': {
    begin: async ({ admin }: Scene) => void (await admin.config('SET', 'maxmemory', '1')),
    end: async ({ admin }: Scene) => void (await admin.config('SET', 'maxmemory', '0')),
    countEffects: ({ bots }: Scene) => bots.log.filter((line) => line.includes('OOM')).length,
    refused: /refuses writes, because its memory is full\. Your last step wasn't stored/,
    // Reads still work.
    listed: /1 request needs approval/,
  },
}

describe('Redis away for half a minute, with requests in every phase', () => {
  test.each(Object.entries(outages))(
    'it %s: people get an answer, and afterwards everything goes on by itself, once',
    async (_, { begin, end, countEffects, refused, listed }) => {
      const scene = await startScene({ moveTakesMs: 10_000, onRacks: [7] })
      const letThrough = await startEveryPhase(scene)

      await begin(scene)
      const answers = [await tryInVain(scene, { refused, listed })]
      // Somebody else moves one of them on while an approval of it is under way.
      const { id } = scene.elasticIp(outdated)
      scene.accountApi.world.moveBehindOurBack(id, scene.accountApi.world.third(id).id)
      letThrough()
      // The duration is the fault here.
      await delay(14_000)
      answers.push(await tryInVain(scene, { refused, listed }))
      await delay(14_000)
      expect(countEffects(scene)).toBeGreaterThan(0)
      expect(movesIn(scene)).toHaveLength(3)
      expect(writesOf(scene, onRack(scene, 0)).filter((count) => count === 1)).toHaveLength(5)
      await end(scene)
      const backAt = performance.now()

      await scene.slack.until(() => movesIn(scene).length === 4, { what: 'the write of what was approved' })
      for (const index of [starting, following, unsent]) await scene.untilCard(index, /\*Done/)
      await scene.slack.until(() => !writesOf(scene, onRack(scene, 0)).includes(0), { what: 'the writes of the rest' })
      await scene.untilCard(outdated, /Nothing was (?:done|changed)|Canceled/)
      const resumedMs = performance.now() - backAt
      await tryAgain(scene)
      const usableMs = performance.now() - backAt
      await untilEvacuation(scene, 0, /\*Done\*/)
      const evidence = await scene.gather(8)

      console.log(
        JSON.stringify({
          answersMs: answers.map(Math.round),
          resumedMs: Math.round(resumedMs),
          usableMs: Math.round(usableMs),
          countEffects: countEffects(scene),
        }),
      )
      expect(brokenPromises(evidence)).toEqual([])
      expect(movesIn(scene)).toHaveLength(6)
      expect(writesOf(scene, onRack(scene, 0))).toEqual(Array(7).fill(1))
    },
  )
})
