import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type Alertmanager, startAlertmanager } from '../sandbox/alertmanager/start-alertmanager.ts'
import { freePort } from '../sandbox/programs.ts'
import { documented, nodeDown, nodeUp, startAlertScene } from './alert-scene.ts'

async function untilSent(alertmanager: Alertmanager, more: number): Promise<void> {
  const { tried } = await alertmanager.notifications()
  await expect.poll(async () => (await alertmanager.notifications()).tried, { timeout: 30_000 }).toBeGreaterThanOrEqual(tried + more)
}

/**
 * Resolves once so many notifications were accepted. Alertmanager does not send that an alert resolved if none that it fired was accepted.
 */
async function untilAccepted(alertmanager: Alertmanager, count = 1): Promise<void> {
  const accepted = async () => {
    const { tried, failed } = await alertmanager.notifications()
    return tried - failed
  }
  await expect.poll(accepted, { timeout: 30_000 }).toBeGreaterThanOrEqual(count)
}

async function untilRefused(alertmanager: Alertmanager): Promise<void> {
  await expect.poll(async () => (await alertmanager.notifications()).failed, { timeout: 30_000 }).toBeGreaterThan(0)
}

test('an alert leads to one request: its repeats and a killed bot add none, and when it resolves, the request is withdrawn', async () => {
  const { alertmanagerFor, untilRequest, requests, bots, writes } = await startAlertScene()
  const alertmanager = await alertmanagerFor()

  await alertmanager.send(nodeDown('web-1'))
  const card = await untilRequest(/needs approval from/)
  await untilSent(alertmanager, 2)
  expect(requests()).toHaveLength(1)
  await bots.kill(0)
  await bots.start(0)
  await untilSent(alertmanager, 3)
  expect(requests().map(({ ts }) => ts)).toEqual([card.ts])
  expect((await untilRequest(/./)).text).toMatch(/needs approval from/)

  await alertmanager.send(nodeUp('web-1'))

  await untilRequest(/alert resolved/i)
  expect(requests()).toHaveLength(1)
  expect(writes()).toEqual([])
})

type AlertScene = Awaited<ReturnType<typeof startAlertScene>>

test.each<[what: string, away: (scene: AlertScene) => unknown, back: (scene: AlertScene) => unknown]>([
  ['the bot is', ({ bots }) => bots.kill(0), ({ bots }) => bots.start(0)],
  ['Redis is', ({ proxy }) => proxy.refuse(), ({ proxy }) => proxy.heal()],
])('while %s away alerts are refused, and what fired or resolved then is learned afterwards', async (_, away, back) => {
  const scene = await startAlertScene()
  const { alertmanagerFor, untilRequest, requests } = scene
  const alertmanager = await alertmanagerFor()

  await away(scene)
  await alertmanager.send(nodeDown('web-1'))
  await untilRefused(alertmanager)
  await back(scene)
  await untilRequest(/needs approval from/)
  await untilAccepted(alertmanager)

  await away(scene)
  await alertmanager.send(nodeUp('web-1'))
  await untilSent(alertmanager, 2)
  await back(scene)
  await untilRequest(/alert resolved/i)
  expect(requests()).toHaveLength(1)
})

test.each(['alone', 'as a cluster'])(
  'two Alertmanagers that both deliver an alert to two bots, each %s, lead to one request',
  async (how) => {
    const { alertmanagerFor, untilRequest, requests, reports } = await startAlertScene({ bots: 2 })
    const [port = 0, other = 0] = [await freePort(), await freePort()]
    const isCluster = how === 'as a cluster'
    const first = await alertmanagerFor(0, isCluster ? { cluster: { port, peers: [] } } : {})
    const second = await alertmanagerFor(1, isCluster ? { cluster: { port: other, peers: [port] } } : {})

    // Each gives it a start of its own.
    await Promise.all([first, second].map((each) => each.send(nodeDown('web-1'))))
    const card = await untilRequest(/needs approval from/)
    await untilAccepted(second)
    expect(requests()).toHaveLength(1)
    // The one that is left withdraws it.
    if (isCluster) await first.stop()
    else await first.send(nodeUp('web-1'))
    await second.send(nodeUp('web-1'))

    await untilRequest(/alert resolved/i)
    await delay(2_000)
    expect(requests()).toHaveLength(1)
    expect(reports(card, /resolved/i).length).toBeLessThanOrEqual(1)
  },
)

test('an alert that resolves by time-out and goes on firing is requested again after two minutes', async () => {
  const { alertmanagerFor, untilRequest, requests } = await startAlertScene()
  const alertmanager = await alertmanagerFor(0, { resolveTimeout: '3s' })
  const outage = nodeDown('web-1', { startsAt: new Date().toISOString() })

  await alertmanager.send(outage)
  await untilRequest(/needs approval from/)
  await untilRequest(/alert resolved/i)
  const since = Date.now()
  const repeating = setInterval(() => void alertmanager.send(outage), 1_000)
  onTestFinished(() => clearInterval(repeating))

  await untilRefused(alertmanager)
  expect(requests()).toHaveLength(1)
  await untilRequest(/needs approval from/, 240_000)
  expect(Date.now() - since).toBeGreaterThan(115_000)
  expect(requests()).toHaveLength(2)
})

test('an outage after one whose resolved was silenced, or sent by no Alertmanager that restarted, is a request', async () => {
  const { alertmanagerFor, untilRequest, requests, ben, slack } = await startAlertScene()
  const alertmanager = await alertmanagerFor()
  const startsAt = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000).toISOString()
  const reject = async () => {
    await ben.click(await untilRequest(/needs approval from/), 'Reject')
    await slack.until(() => ben.openViews()[0], { what: 'the form' })
    await ben.fill(undefined, { reason: 'Rebooting' })
    await ben.submit()
    await expect.poll(() => requests().filter(({ text }) => /needs approval from/.test(text)).length).toBe(0)
  }

  await alertmanager.send(nodeDown('web-1', { startsAt: startsAt(20) }))
  await reject()
  await alertmanager.silence('job', 'node')
  await alertmanager.send(nodeUp('web-1'))
  await alertmanager.stop()
  const restarted = await alertmanagerFor()
  const later = startsAt(5)
  await restarted.send(nodeDown('web-1', { startsAt: later }))
  await untilRequest(/needs approval from/)
  expect(requests()).toHaveLength(2)
  await restarted.stop()

  // The same outage, from one that knows nothing of the first.
  const third = await alertmanagerFor()
  await third.send(nodeDown('web-1', { startsAt: later }))
  await untilSent(third, 1)
  expect(requests()).toHaveLength(2)
})

test('an alert that resolves before its request could be posted leaves nothing to approve', async () => {
  const { alertmanagerFor, untilRequest, requests, slack } = await startAlertScene()
  const alertmanager = await alertmanagerFor()

  const away = slack.faults.add({ method: 'chat.postMessage', kind: 'status', status: 503, times: Number.POSITIVE_INFINITY })
  await alertmanager.send(nodeDown('web-1'))
  await expect.poll(() => away.fired).toBeGreaterThan(0)
  await untilAccepted(alertmanager)
  await alertmanager.send(nodeUp('web-1'))
  await untilAccepted(alertmanager, 2)
  slack.faults.clear()

  const { text } = await untilRequest(/alert resolved/i)
  expect(text).toContain('*Withdrawn*')
  expect(requests()).toHaveLength(1)
  const posted = slack.journal.filter(({ method }) => method === 'chat.postMessage')
  expect(JSON.stringify(posted.at(-1)?.args)).not.toContain('request-approve')
})

test('Alertmanager accepts the configuration of the documentation as it is', async () => {
  const alertmanager = await startAlertmanager({ config: documented('alertmanager.yml') })
  await alertmanager.stop()
})
