import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ops, people } from '../journeys/world.ts'
import { onRack, requestEvacuation, untilEvacuation, writesOf } from './evacuations.ts'
import { brokenPromises } from './invariants.ts'
import { type Scene, startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

/** A move for each phase, by index. The last one is requested while something is away. */
const [waiting, approved, outdated, starting, following, unsent, requestedDuring] = [0, 1, 2, 3, 4, 5, 6]

/** Starts one request in each phase. Returns a function that lets the unsent report and the held reads of the account pass. */
async function startEveryPhase(scene: Scene) {
  const { accountApi, slack } = scene
  accountApi.world.nextMove({ takesMs: 300 })
  const isReport = (args: Record<string, unknown>) => args.thread_ts !== undefined
  const report = slack.faults.add({ method: 'chat.postMessage', kind: 'status', times: 1_000, when: isReport })
  const evacuation = await requestEvacuation(scene, 0)
  const cards = []
  for (const index of [waiting, approved, outdated, starting]) cards.push(await scene.requestMove(index))
  const isOf = (index: number) => new RegExp(scene.elasticIp(index).id)
  await scene.ben.click(await scene.requestMove(unsent), 'Approve')
  await slack.until(() => report.fired > 0, { what: 'a report that Slack does not take' })
  await scene.startMove(following)
  // The wake-up and a tick may read at the same time. Neither of them gets to its write.
  const held = { kind: 'delay', delayMs: 6_000 } as const
  const reads = [approved, outdated].map((index) => accountApi.faults.add({ method: 'GET', ...held, path: isOf(index), times: 1_000 }))
  const write = accountApi.faults.add({ method: 'PATCH', ...held, path: isOf(starting) })
  const someWrites = accountApi.faults.add({ method: 'PATCH', ...held, path: onRackPath(scene), times: 5 })
  for (const card of [...cards.slice(1), evacuation]) await scene.ben.click(card, 'Approve')
  await untilTrue('all is under way', () => someWrites.fired === 5 && [...reads, write].every(({ fired }) => fired > 0), 10_000)
  return () => {
    report.remove()
    accountApi.faults.clear()
  }
}

/** The addresses of an evacuation that is under way: five writes are unanswered when the outage begins, and two are not sent. */
const onRackPath = (scene: Scene) =>
  new RegExp(
    onRack(scene, 0)
      .map(({ id }) => id)
      .join('|'),
  )

const movesIn = (scene: Scene) => scene.writes().filter(({ path }) => !onRackPath(scene).test(path))

/** Tries everything while Redis is away, and waits for the answers. Returns how long the slowest one took, in ms. */
async function tryInVain(scene: Scene, { refused, listed }: { refused: RegExp; listed: RegExp }): Promise<number> {
  const { slack, elasticIp, to } = scene
  const card = await scene.untilCard(waiting, /needs approval from/)
  const tries: [string, RegExp, () => Promise<unknown>][] = [
    [people.ada, refused, () => scene.ada.command(`/infra ip move ${elasticIp(requestedDuring).id} ${to}`, { channel: ops })],
    [people.ben, refused, () => scene.ben.click(card, 'Approve')],
    [people.chiara, listed, () => scene.chiara.command('/infra pending', { channel: ops })],
  ]
  const took = await Promise.all(
    tries.map(async ([who, answer, act]) => {
      const [before, startedAt] = [slack.ephemerals(who).length, performance.now()]
      await act()
      await slack.until(
        () =>
          slack
            .ephemerals(who)
            .slice(before)
            .find(({ text }) => answer.test(text)),
        { what: `an answer to ${who}` },
      )
      return Math.round(performance.now() - startedAt)
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

/** What /status says of a dependency. No replica is taken out of service meanwhile. */
async function statusOf({ bots }: Scene, name: 'redis' | 'slack'): Promise<{ ok: boolean; problem?: string }> {
  for (const path of ['/healthz', '/readyz']) expect((await bots.page(0, path)).ok).toBe(true)
  const { checks } = (await (await bots.page(0, '/status')).json()) as { checks: Record<string, { ok: boolean; problem?: string }> }
  return checks[name] ?? { ok: false }
}

interface Outage {
  begin: (scene: Scene) => unknown
  end: (scene: Scene) => unknown
  /** How often the bot has met it. */
  met: (scene: Scene) => number
  problem: RegExp
  /** What people get. */
  answers?: { refused: RegExp; listed: RegExp }
}

const logged = ({ bots }: Scene, text: string) => bots.log.filter((line) => line.includes(text)).length

const away = /Lockkeeper's database \(Redis\) isn't responding|^Not approved: Redis isn't responding\. Try again in a minute\.$/
const withoutRedis = { problem: /^Not responding/, answers: { refused: away, listed: away } }

/** Ways in which Redis goes away, and what it takes then: nothing. */
const ofRedis: Record<string, Outage> = {
  'is killed': {
    begin: ({ redis }) => redis.kill(),
    end: ({ redis }) => redis.restart(),
    met: (scene) => logged(scene, "Redis isn't responding"),
    ...withoutRedis,
  },
  freezes: {
    begin: ({ redis }) => redis.freeze(),
    end: ({ redis }) => redis.thaw(),
    met: (scene) => logged(scene, "Redis isn't responding"),
    ...withoutRedis,
  },
  'is behind a connection on which packets vanish': {
    begin: ({ proxy }) => proxy.blackhole(),
    end: ({ proxy }) => proxy.heal(),
    met: ({ proxy }) => proxy.fired.swallowed,
    ...withoutRedis,
  },
  'is full': {
    begin: ({ admin }) => admin.config('SET', 'maxmemory', '1'),
    end: ({ admin }) => admin.config('SET', 'maxmemory', '0'),
    met: (scene) => logged(scene, 'OOM'),
    problem: /^Refuses writes/,
    // Reads still work.
    answers: { refused: /refuses writes, because its memory is full\. Your last step wasn't stored/, listed: /1 request needs approval/ },
  },
}

/** Ways in which Slack goes away. Everything goes on behind it. */
const ofSlack: Record<string, Outage> = {
  'answers 503': {
    begin: ({ slack }) => slack.faults.add({ method: '*', kind: 'status', status: 503, times: 1_000_000 }),
    end: ({ slack }) => slack.faults.clear(),
    met: ({ slack }) => slack.journal.filter(({ status }) => status === 503).length,
    problem: /^Slack does not answer/,
  },
  'refuses connections': {
    begin: ({ slackProxy }) => slackProxy.refuse(),
    end: ({ slackProxy }) => slackProxy.heal(),
    met: ({ slackProxy }) => slackProxy.fired.refused,
    problem: /^Slack does not answer/,
  },
  'is behind a connection on which packets vanish': {
    begin: ({ slackProxy }) => slackProxy.blackhole(),
    end: ({ slackProxy }) => slackProxy.heal(),
    met: ({ slackProxy }) => slackProxy.fired.swallowed,
    problem: /^Slack does not answer/,
  },
  'rejects the token': {
    begin: ({ slack }) => slack.revoke('invalid_auth'),
    end: ({ slack }) => slack.revoke(null),
    met: ({ slack }) => slack.journal.filter(({ result }) => result.error === 'invalid_auth').length,
    problem: /^Slack rejects SLACK_BOT_TOKEN \(invalid_auth\)\./,
  },
}

/**
 * The duration is the fault here: longer than any pause between two attempts, which is 30 s after a rejected token. Without Redis nothing new is
 * written. Without Slack the approved moves and the rest of the evacuation are. Each write is counted: of moves, and of the evacuation.
 */
const during = { redis: { awayMs: 28_000, moves: 3, addresses: 5 }, slack: { awayMs: 35_000, moves: 5, addresses: 7 } }

const outages = [
  ...Object.entries(ofRedis).map(([how, outage]) => ({ what: 'redis' as const, how, outage })),
  ...Object.entries(ofSlack).map(([how, outage]) => ({ what: 'slack' as const, how, outage })),
]

test.for(outages)(
  'with requests in every phase, $what $how for half a minute: people get an answer, and everything goes on by itself, once',
  { concurrent: true },
  async ({ what, how, outage }, { onTestFinished }) => {
    const { begin, end, met, problem, answers } = outage
    const { awayMs, moves, addresses } = during[what]
    const scene = await startScene({ moveTakesMs: 10_000, onRacks: [7], onEnd: onTestFinished })
    const { slack, accountApi } = scene
    const letThrough = await startEveryPhase(scene)
    const rack = onRack(scene, 0)

    await begin(scene)
    const begunAt = Date.now()
    const answersMs = answers ? [await tryInVain(scene, answers)] : []
    // Somebody else moves one of them on while an approval of it is under way. What was read of it before counts for 20 s.
    const { id } = scene.elasticIp(outdated)
    if (what === 'redis') accountApi.world.moveBehindOurBack(id, accountApi.world.third(id).id)
    letThrough()
    await delay(awayMs / 2)
    if (answers) answersMs.push(await tryInVain(scene, answers))
    await untilTrue('/status says it', async () => problem.test((await statusOf(scene, what)).problem ?? ''), 45_000)
    await delay(Math.max(0, begunAt + awayMs - Date.now()))
    expect(met(scene)).toBeGreaterThan(what === 'redis' ? 0 : 5)
    expect([movesIn(scene).length, writesOf(scene, rack).filter((count) => count === 1).length]).toEqual([moves, addresses])
    await end(scene)
    const backAt = performance.now()

    await slack.until(() => movesIn(scene).length === Math.max(moves, 4), { what: 'the write of what was approved' })
    for (const index of [starting, following, unsent]) await scene.untilCard(index, /\*Done/)
    await slack.until(() => !writesOf(scene, rack).includes(0), { what: 'the writes of the rest' })
    await scene.untilCard(outdated, what === 'redis' ? /Nothing was (?:done|changed)|Canceled/ : /\*Done/)
    const resumedMs = Math.round(performance.now() - backAt)
    await tryAgain(scene)
    const usableMs = Math.round(performance.now() - backAt)
    await untilEvacuation(scene, 0, /\*Done\*/)
    const evidence = await scene.gather(8)

    console.log(JSON.stringify({ what, how, answersMs, resumedMs, usableMs }))
    expect(brokenPromises(evidence)).toEqual([])
    expect(movesIn(scene)).toHaveLength(what === 'redis' ? 6 : 7)
    expect(writesOf(scene, rack)).toEqual(Array(7).fill(1))
    expect(slack.messages(ops).filter(({ text }) => /Possible duplicate/.test(text))).toEqual([])
    await untilTrue('/status says that all is well', async () => (await statusOf(scene, what)).ok, 45_000)
  },
)
