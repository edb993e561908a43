import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Scene, type SceneOptions, startScene } from './scene.ts'
import { untilTrue } from './until-true.ts'

/** Longer than the lease of a message (10 s, or 20 s after a search), than a call may last, and than a write without an effect is followed. */
const stallMs = 24_000

const aftermathMs = 8_000

const stalledCall = new URL('./stalled-call.ts', import.meta.url).href

function startStalling(call: string, at: 'made' | 'connected', onEnd: SceneOptions['onEnd']) {
  const env = { BLOCK_MS: String(stallMs), STALL_CALL: call, STALL_AT: at }
  return startScene({ bots: 2, atOnce: 1, elasticIps: 4, moveTakesMs: 7_000, nodeOptions: ['--import', stalledCall], env, onEnd })
}

/** Resolves when the first bot stands still. A second one starts then. */
async function untilStalled({ bots }: Scene): Promise<void> {
  await untilTrue('the call is stalled', () => bots.log.some((line) => line.includes('the call is stalled')))
  await bots.start(1)
}

// They wait nearly all the time, so they wait side by side.
describe.concurrent('while a process or Slack stands still', () => {
  test.for(['made', 'connected'] as const)(
    'a process that does not run when the call for its report is %s posts nothing after another one has posted it',
    async (at, { onTestFinished }) => {
      const scene = await startStalling('chat.postMessage', at, onTestFinished)
      const cards = []
      for (const index of [0, 1, 2]) cards.push(await scene.startMove(index))
      scene.bots.signal(0, 'SIGUSR2')
      await untilStalled(scene)
      for (const card of cards) await scene.untilReport(card, /\*Done/)

      await delay(stallMs + aftermathMs)

      expect(cards.map((card) => scene.reports(card, /\*Done/).length)).toEqual([1, 1, 1])
      expect(scene.bots.crashes).toEqual([])
    },
  )

  test('a process that does not run when it has allowed its write sends nothing after another one has told that it was not started', async ({
    onTestFinished,
  }) => {
    const scene = await startStalling('PATCH /elastic_ips', 'made', onTestFinished)
    const card = await scene.requestMove(0)
    scene.bots.signal(0, 'SIGUSR2')
    await scene.ben.click(card, 'Approve')
    await untilStalled(scene)
    await scene.untilReport(card, /Not started/)

    await delay(stallMs + aftermathMs)

    expect(scene.writes()).toEqual([])
    expect(scene.reports(card).map(({ text }) => /Not started|Done/.exec(text)?.[0])).toEqual(['Not started'])
    expect(scene.bots.crashes).toEqual([])
  })

  test('a Slack that takes 20 s for each message gets each report once', async ({ onTestFinished }) => {
    const scene = await startScene({ elasticIps: 4, moveTakesMs: 500, onEnd: onTestFinished })
    const cards = []
    for (const index of [0, 1, 2]) cards.push(await scene.startMove(index))
    scene.slack.faults.add({ method: 'chat.postMessage', kind: 'delay', delayMs: 20_000, times: 100 })
    for (const card of cards) await scene.untilReport(card, /\*Done/, 60_000)

    await delay(40_000)

    expect(cards.map((card) => scene.reports(card, /\*Done/).length)).toEqual([1, 1, 1])
  })

  test('what a Slack that takes 50 s shows twice is deleted again', async ({ onTestFinished }) => {
    const scene = await startScene({ elasticIps: 1, moveTakesMs: 3_000, onEnd: onTestFinished })
    const card = await scene.startMove(0)
    const fault = scene.slack.faults.add({ method: 'chat.postMessage', kind: 'delay', delayMs: 50_000, times: 2 })
    await untilTrue('it shows it twice', () => scene.reports(card, /\*Done/).length === 2, 120_000)
    await untilTrue('one of them is deleted', () => scene.reports(card, /\*Done/).length === 1)
    expect(fault.fired).toBe(2)
  })

  test('a request message that Slack sets back, because it carries out an earlier update late, shows its end again', async ({
    onTestFinished,
  }) => {
    const scene = await startScene({ elasticIps: 1, moveTakesMs: 3_000, onEnd: onTestFinished })
    const card = await scene.requestMove(0)
    const fault = scene.slack.faults.add({ method: 'chat.update', kind: 'delay', delayMs: 25_000, times: 1 })
    await scene.ben.click(card, 'Approve')
    await scene.untilCard(0, /\*Done/)
    expect(fault.fired).toBe(1)
    await scene.untilCard(0, /\*Approved/)
    await scene.untilCard(0, /\*Done/)
  })
})
