import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { ops, patchesOf, people, startWorld, untilCard, untilReport, untilShown, type World } from '../journeys/world.ts'
import type { FaultOrder } from '../sandbox/account-api/faults.ts'
import { manyElasticIps } from './many-elastic-ips.ts'
import { moveAll, reportsOf } from './moves.ts'

/** Enough that reading each of them without pacing would exceed the pace. */
const count = 150

/** Reads without a limit would exceed this. What counts as a minute is as short as half of the outage. */
const pollBudget = 200
const windowMs = 2_000

/** With reads every 100 ms, as many as in ten minutes with reads every 15 s. */
const outageMs = 4_000

const policy = `
rules:
  - name: moves
    changes: ip.move
    request: everyone
    approve: none
  - name: names
    changes: vm.rename
    request: everyone
    approve: [S0ONCALL01]
`

/** Starts this many moves that do not end by themselves, and a rename that waits for its approval. */
async function startBusyWorld(moves: number) {
  const world = await startWorld({
    env: { MOVE_POLL_BUDGET: String(pollBudget), OPEN_REQUESTS_PER_PERSON: '9999', POLICY_FILE: policyInFile(policy) },
    timings: { ...usualTimings, accountWindowMs: windowMs },
    account: { data: { elasticIps: manyElasticIps(moves) }, moveTakes: { min: 600_000, max: 600_000 } },
  })
  const { accountApi, slack } = world
  const [machine] = accountApi.world.data.virtualMachines
  await moveAll(world)
  await world.ada.command(`/infra vm rename ${machine?.id} after-the-storm`, { channel: ops })
  return { world, accountApi, slack, waiting: await untilCard(slack, /needs approval from/) }
}

test.each<[string, FaultOrder]>([
  ['answers 503', { kind: 'status', status: 503 }],
  ['breaks every connection', { kind: 'reset' }],
  // Not retried, so every read fails at once: without pacing the reads would follow each other as fast as possible.
  ['rejects the key', { kind: 'status', status: 401 }],
])(
  'while the account API %s nothing is settled, its load and the log stay bounded, and afterwards everything goes on',
  async (_, order) => {
    const { world, accountApi, slack, waiting } = await startBusyWorld(count)

    const away = accountApi.faults.add({ ...order, times: Number.POSITIVE_INFINITY })
    const linesBefore = world.log.length
    const requestsBefore = accountApi.journal.length
    const startedAt = performance.now()
    // Half of them end while the account API cannot be read.
    for (const { id } of accountApi.world.elasticIps().slice(0, count / 2)) accountApi.world.endMove(id)
    await world.ben.click(waiting, 'Approve')
    const sentAt = Date.now()
    await world.chiara.command('/infra ip list', { channel: ops })
    await untilShown(
      slack,
      people.chiara,
      /Slower than usual|returned an error|didn't answer|connection to the account API was lost|Couldn't reach|rejects Lockkeeper/,
    )
    expect(Date.now() - sentAt).toBeLessThan(3_000)
    await delay(Math.max(0, outageMs - (performance.now() - startedAt)))

    const seconds = (performance.now() - startedAt) / 1_000
    const requests = accountApi.journal.length - requestsBefore
    const lines = world.log.slice(linesBefore).filter((line) => !line.includes('"level":"debug"'))
    expect(away.fired).toBeGreaterThan(count)
    // Those of the tracking, and of a person and a rename.
    expect(requests).toBeLessThanOrEqual((seconds * 1_000 * pollBudget) / windowMs + pollBudget + 50)
    expect(lines.length).toBeLessThan(25)
    expect(lines.some((line) => line.includes('account API'))).toBe(true)
    expect(reportsOf(world)).toEqual([])
    console.log(JSON.stringify({ outage: order.kind, seconds, requests, fired: away.fired, lines: lines.length }))

    accountApi.faults.clear()
    for (const { id, status } of accountApi.world.elasticIps()) if (status === 'moving') accountApi.world.endMove(id)
    await untilReport(slack, waiting.ts, /Done/)
    await slack.until(() => reportsOf(world).filter((text) => /Done/.test(text)).length > count)

    expect(reportsOf(world)).toHaveLength(count + 1)
    expect(patchesOf(world)).toHaveLength(count + 1)
  },
)

async function readOperatorPages({ bots: [bot] }: World) {
  const page = (path: string) => fetch(`http://127.0.0.1:${bot?.opsPort}${path}`)
  const [readiness, status, metrics] = await Promise.all([page('/readyz'), page('/status'), page('/metrics')])
  const { ok, checks } = (await status.json()) as {
    ok: boolean
    checks: Record<'accountApi' | 'worker', { ok: boolean; problem?: string }>
  }
  return {
    ready: readiness.ok,
    ok,
    checks,
    ticks: Number(/^lockkeeper_tick_duration_seconds_count (\d+)/m.exec(await metrics.text())?.[1]),
  }
}

test('while the account API hangs, ticks end, messages are sent, the pages say what is wrong, and afterwards everything goes on', async () => {
  const many = 200
  const { world, accountApi, slack, waiting } = await startBusyWorld(many)

  const hung = accountApi.faults.add({ kind: 'hang', times: Number.POSITIVE_INFINITY })
  for (const { id } of accountApi.world.elasticIps()) accountApi.world.endMove(id)
  await expect.poll(() => hung.fired).toBeGreaterThan(0)
  const { ticks } = await readOperatorPages(world)
  const limited = slack.faults.add({ method: 'chat.update', kind: '429', when: ({ ts }) => ts === waiting.ts })
  await world.ada.click(waiting, 'Withdraw')
  await untilCard(slack, /Withdrawn/)
  expect(limited.fired).toBe(1)

  // Two ticks take 25 s each. With 15 s for each 64 reads, one tick would take 75 s.
  const pages = []
  do {
    await delay(1_000)
    pages.push(await readOperatorPages(world))
  } while ((pages.at(-1)?.ticks ?? 0) < ticks + 2 && pages.length < 80)
  expect(pages.at(-1)?.ticks).toBeGreaterThanOrEqual(ticks + 2)
  expect(pages.filter(({ ready, checks }) => !ready || !checks.worker.ok)).toEqual([])
  expect(pages.at(-1)).toMatchObject({ ok: false, checks: { accountApi: { ok: false, problem: expect.stringMatching(/^Not reachable/) } } })
  expect(reportsOf(world).filter((text) => /Done/.test(text))).toEqual([])

  accountApi.faults.clear()
  const done = () => reportsOf(world).filter((text) => /Done/.test(text)).length
  await expect.poll(done, { timeout: 60_000, interval: 1_000 }).toBe(many)
  expect(patchesOf(world)).toHaveLength(many)
})
