import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { general, ops, people } from '../journeys/world.ts'
import type { FaultPlan } from '../sandbox/slack/slack.ts'
import { brokenPromises } from './invariants.ts'
import { namesAddress, type Scene, startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

const isReport: FaultPlan['when'] = (args) => args.thread_ts !== undefined
const about = (address: string, args: Record<string, unknown>) => namesAddress(address, String(args.text ?? ''))

// They wait most of the time, so they wait side by side.
describe.concurrent('Slack with trouble', () => {
  test('a rate-limited channel does not hold up another one, and gets no calls until the limit ends', async ({ onTestFinished }) => {
    const scene = await startScene({ moveTakesMs: 1_000, onEnd: onTestFinished })
    scene.slack.invite(general)
    const here = await scene.requestMove(0)
    const there = await scene.requestMove(1, general)
    const limit = scene.slack.faults.add({
      method: 'chat.postMessage',
      kind: '429',
      retryAfter: 8,
      when: (args) => args.channel === ops && isReport(args),
    })
    await scene.ben.click(here, 'Approve')
    await scene.slack.until(() => limit.fired === 1)
    await scene.ben.click(there, 'Approve')

    await scene.untilReport(there, /Done/)
    expect(scene.reports(here)).toEqual([])

    await scene.untilReport(here, /Done/)
    const posts = scene.slack.calls('chat.postMessage').filter(({ args }) => isReport(args))
    const tries = posts.filter(({ args }) => args.channel === ops)
    const other = posts.find(({ args }) => args.channel === general)
    expect((other?.at ?? 0) - (tries[0]?.at ?? 0)).toBeLessThan(6_000)
    expect(tries.map(({ status }) => status)).toEqual([429, 200])
    expect((tries[1]?.at ?? 0) - (tries[0]?.at ?? 0)).toBeGreaterThanOrEqual(8_000)
    expect(scene.reports(there)).toHaveLength(1)
    await scene.untilCard(0, /\*Done/)
  })

  test('if any single call fails, with or without an effect, there is one card and one report', async ({ onTestFinished }) => {
    const scene = await startScene({ onEnd: onTestFinished })
    const kinds: Pick<FaultPlan, 'kind' | 'error' | 'status'>[] = [
      { kind: 'drop-after' },
      { kind: 'drop-before' },
      { kind: 'status', status: 503 },
      { kind: 'status', status: 500 },
      { kind: 'error', error: 'internal_error' },
      { kind: 'error', error: 'fatal_error' },
      { kind: 'error', error: 'service_unavailable' },
      { kind: '429' },
    ]
    const faults = kinds.flatMap((kind, index) => {
      const { address } = scene.elasticIp(index)
      return [
        scene.slack.faults.add({ method: 'chat.postMessage', ...kind, when: (args) => about(address, args) && !isReport(args) }),
        scene.slack.faults.add({ method: 'chat.update', ...kind, when: (args) => about(address, args) }),
        scene.slack.faults.add({ method: 'chat.postMessage', ...kind, when: (args) => about(address, args) && isReport(args) }),
      ]
    })

    const cards = await Promise.all(kinds.map((_, index) => scene.requestMove(index)))
    await Promise.all(cards.map((card) => scene.ben.click(card, 'Approve')))

    expect(brokenPromises(await scene.gather(kinds.length, 40_000))).toEqual([])
    expect(faults.map(({ fired }) => fired)).toEqual(faults.map(() => 1))
    for (const [index] of kinds.entries()) await scene.untilCard(index, /\*Done/)
    expect(cards.flatMap((card) => scene.reports(card, /Possible duplicate/))).toEqual([])
  })

  test.for([
    ['archived', 'is_archived', (scene: Scene) => scene.slack.archive(ops), []],
    // People still see the message and its buttons.
    ['left by the bot', 'not_in_channel', (scene: Scene) => scene.slack.kickBot(ops), [/The request message is out of date/]],
  ] as const)(
    'a channel that is %s between the request and its end: the requester gets the report directly, with the reason, and if the message is out of date',
    async ([, error, close, besides], { onTestFinished }) => {
      const scene = await startScene({ moveTakesMs: 3_000, onEnd: onTestFinished })
      await scene.startMove(0)
      close(scene)

      expect(await scene.evidence.comeToRest(1, 40_000)).toBe(true)

      const direct = scene.slack.directMessages(people.ada)
      const expected = [/Done\..*`198\.18\.0\.1` is assigned to web-2/s, ...besides]
      expect(direct.map(({ text }) => text)).toEqual(expected.map((words) => expect.stringMatching(words)))
      expect(direct[0]?.text).toContain(`couldn't post in the thread in <#${ops}> (${error})`)
      expect(scene.writes()).toHaveLength(1)
    },
  )

  test('a card whose first answer was lost and whose channel is then closed: the requester gets a message, and can request it elsewhere', async ({
    onTestFinished,
  }) => {
    const scene = await startScene({ onEnd: onTestFinished })
    const { slack, ada, to } = scene
    slack.invite(general)
    const lost = slack.faults.add({ method: 'chat.postMessage', kind: 'drop-before' })
    const { address } = scene.elasticIp(0)
    await ada.command(`/infra ip move ${address} ${to}`, { channel: ops })
    await slack.until(() => lost.fired === 1)
    slack.archive(ops)

    const notices = () => slack.directMessages(people.ada).filter(({ text }) => text.includes('Slack refused the request message'))
    await slack.until(() => notices()[0])

    const cards = () => slack.messages(general).filter(({ isBot, text }) => isBot && namesAddress(address, text)).length
    await untilTrue('it is requested elsewhere', async () => {
      await ada.command(`/infra ip move ${address} ${to}`, { channel: general })
      await delay(1_000)
      return cards() > 0
    })
    expect([cards(), notices().length]).toEqual([1, 1])
  })
})

test('within the usual limits of Slack everything is reported, and few calls are rejected', async () => {
  const moves = 24
  const scene = await startScene({ elasticIps: moves, moveTakesMs: 20_000, limits: true })
  for (let index = 0; index < moves; index += 1) {
    await scene.ada.command(`/infra ip move ${scene.elasticIp(index).address} ${scene.to}`, { channel: ops })
    await scene.ben.click(await scene.untilCard(index, /needs approval from/), 'Approve')
  }

  const evidence = await scene.gather(moves, 180_000)

  expect(brokenPromises(evidence)).toEqual([])
  for (let index = 0; index < moves; index += 1) await scene.untilCard(index, /\*Done/)
  const calls = scene.slack.calls('chat.update')
  const limited = calls.filter(({ status }) => status === 429).length
  console.log(JSON.stringify({ updates: calls.length, limited, seconds: evidence.seconds }))
  expect(limited).toBeGreaterThan(0)
  // Calls that are under way when the first one is rejected, each time.
  expect(limited).toBeLessThan(50)
}, 300_000)
