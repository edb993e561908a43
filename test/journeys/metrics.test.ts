import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { general, ops, opsPage, people, requestMove, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

async function scrape(world: World) {
  const page = await opsPage(world)
  const samples = [...page.matchAll(/^(lockkeeper_\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', text = '']) => [label, text])),
    value: Number(value),
  }))
  /** Returns the sum over all samples with these labels. */
  const value = (name: string, labels: Record<string, string> = {}) =>
    samples
      .filter((sample) => sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text))
      .reduce((sum, sample) => sum + sample.value, 0)
  return { page, samples, value }
}

type Seen = Awaited<ReturnType<typeof scrape>>

/** Calls of Slack that must all be on the page. */
const measured = ['chat.postMessage', 'response_url']

/** Scrapes until the page fits. Figures of all replicas are up to a second old. */
async function scrapeUntil(world: World, fits: (seen: Seen) => boolean) {
  const endsAt = Date.now() + 20_000
  for (;;) {
    const seen = await scrape(world)
    if (fits(seen)) return seen
    if (Date.now() > endsAt) throw new Error(`the page never said so:\n${seen.page}`)
    await wait(100)
  }
}

/** Makes a move to its end and a key, and has one person refused a request and another one a decision. */
async function liveADay(world: World) {
  const { slack, ada, ben, dov } = world
  const { card } = await requestMove(world)
  await ada.click(card, 'Approve')
  await untilShown(slack, people.ada, /You requested this/)
  await dov.command('/infra ip list', { channel: ops })
  await untilShown(slack, people.dov, /guest/i)
  const waiting = await scrapeUntil(world, ({ value }) => value('lockkeeper_requests_open', { state: 'waiting' }) > 0)
  world.accountApi.world.nextMove({ takesMs: 3_000 })
  await ben.click(card, 'Approve')
  await untilCard(slack, /\*Moving\*/)
  const moving = await scrapeUntil(world, ({ value }) => value('lockkeeper_moves_in_flight') > 0)
  await untilReport(slack, card.ts, /Done/)
  await ada.command('/infra keys create ci-deploy', { channel: ops })
  await ben.click(await untilCard(slack, /needs approval from/), 'Approve')
  await ada.click(await untilCard(slack, /\*Approved\.\*/), 'Create key')
  await untilShown(slack, people.ada, /Your new API key/)
  await untilCard(slack, /ci-deploy.*\*Done|\*Done.*ci-deploy/s)
  const isCounted = (seen: Seen) =>
    measured.every(
      (method) => seen.value('lockkeeper_slack_call_duration_seconds_count', { method, status: 'ok' }) === slack.calls(method).length,
    )
  const after = await scrapeUntil(world, (seen) => seen.value('lockkeeper_requests_open') === 0 && isCounted(seen))
  return { waiting, moving, after }
}

test('/metrics shows the figures of a day, and no names or ids', async () => {
  const world = await startWorld({ account: { moveTakes: { min: 1_200, max: 1_200 } } })
  const { waiting, moving, after } = await liveADay(world)

  expect(waiting.value('lockkeeper_requests_open', { kind: 'ip.move', state: 'waiting' })).toBe(1)
  expect(waiting.value('lockkeeper_decisions_total', { decision: 'refused' })).toBeGreaterThanOrEqual(2)
  expect(moving.value('lockkeeper_requests_open', { kind: 'ip.move', state: 'tracking' })).toBe(1)
  expect(moving.value('lockkeeper_moves_in_flight')).toBe(1)

  expect(after.value('lockkeeper_moves_in_flight')).toBe(0)
  for (const state of ['waiting', 'approved', 'starting', 'tracking', 'done'])
    expect({ state, count: after.value('lockkeeper_request_transitions_total', { kind: 'ip.move', state }) }).toEqual({ state, count: 1 })
  expect(after.value('lockkeeper_decisions_total', { kind: 'ip.move', decision: 'approve' })).toBe(1)
  expect(after.value('lockkeeper_move_duration_seconds_count', { state: 'done' })).toBe(1)
  expect(after.value('lockkeeper_move_duration_seconds_sum', { state: 'done' })).toBeGreaterThan(1)
  expect(after.value('lockkeeper_account_api_call_duration_seconds_count', { operation: 'elasticIps.move', status: '202' })).toBe(1)
  expect(after.value('lockkeeper_account_api_call_duration_seconds_count', { status: '201' })).toBe(1)
  for (const method of measured)
    expect(after.value('lockkeeper_slack_call_duration_seconds_count', { method, status: 'ok' })).toBeGreaterThan(0)
  expect(after.value('lockkeeper_tick_duration_seconds_count')).toBeGreaterThan(2)
  expect(after.value('lockkeeper_redis_up')).toBe(1)
  expect(after.value('lockkeeper_workers')).toBe(1)
  expect(after.value('lockkeeper_redis_memory_used_bytes')).toBeGreaterThan(100_000)
  expect(Math.abs(after.value('lockkeeper_clock_ahead_seconds'))).toBeLessThan(1)
  expect(after.value('lockkeeper_slack_requests_refused_total')).toBe(0)
  expect(after.value('lockkeeper_acknowledgement_duration_seconds_count', { payload: 'command' })).toBe(3)
  expect(after.value('lockkeeper_acknowledgement_duration_seconds_count', { payload: 'click' })).toBe(4)
  // The secret of a key is issued by its requester, who may take hours. That is no delay of Lockkeeper.
  expect(after.value('lockkeeper_write_delay_seconds_count')).toBe(1)
  expect(after.value('lockkeeper_write_delay_seconds_count', { kind: 'ip.move' })).toBe(1)
  expect(after.value('lockkeeper_report_delay_seconds_count', { kind: 'ip.move' })).toBe(1)
  for (const name of ['requests_lost', 'records_not_genuine'])
    expect({ name, value: after.value(`lockkeeper_${name}_total`) }).toEqual({ name, value: 0 })

  // Label values are a fixed set of words, so that their number does not grow with use.
  const labels = after.samples.flatMap((sample) => Object.entries(sample.labels))
  const known = 'by decision how kind lane le method operation payload problem reason role service state status version where'
  expect([...new Set(labels.map(([label]) => label))].toSorted()).toEqual(known.split(' '))
  for (const [label, text] of labels)
    if (label !== 'le' && label !== 'version') expect(text).toMatch(/^([a-z_-]+([.][a-zA-Z]+)*|[a-z]+[A-Z]\w*\.\w+|[1-5]\d\d)$/)
  const { elasticIp } = world.accountApi.world.movable()
  const particular = [...Object.values(people), ops, 'ci-deploy', 'Ada', 'web-1', 'eip_', 'sv_', '203.0.113', elasticIp.id, world.prefix]
  const secrets = [world.slack.botToken, world.slack.signingSecret, world.accountApi.key, ...world.accountApi.world.issuedTokens]
  expect([...particular, ...secrets].filter((text) => after.page.includes(text))).toEqual([])
})

test('/metrics counts errors by where they occurred, and what Slack refuses', async () => {
  const world = await startWorld({ env: { OPS_CHANNEL: general } })
  const { slack, ada, ben, dov } = world
  const { card } = await requestMove(world)
  world.accountApi.faults.add({ method: 'GET', kind: 'status', status: 401, times: 1_000 })
  await ben.click(card, 'Approve')
  await ada.command('/infra plans', { channel: ops })
  await untilShown(slack, people.ada, /rejects Lockkeeper's API key/)
  await dov.command('/infra ip list', { channel: ops })
  await untilShown(slack, people.dov, /guest/i)
  // The bot is not in the channel of the operators, so neither notice can be posted: of the empty Redis at the start, and of the key.
  const seen = await scrapeUntil(world, ({ value }) => {
    const [operators = 0, accountApi = 0] = ['operators', 'account-api'].map((where) => value('lockkeeper_errors_total', { where }))
    return operators > 1 && accountApi > 0
  })

  expect(seen.value('lockkeeper_errors_total', { where: 'operators' })).toBe(2)
  expect(seen.value('lockkeeper_errors_total', { where: 'account-api' })).toBeGreaterThan(0)
  // The refusal of Dov is not an error.
  expect(seen.value('lockkeeper_errors_total', { where: 'people' })).toBe(1)
  expect(seen.value('lockkeeper_errors_total', { where: 'slack' })).toBe(0)
  expect(seen.value('lockkeeper_slack_call_duration_seconds_count', { method: 'chat.postMessage', status: 'refused' })).toBe(2)
})

test('/metrics counts what Slack sends and a wrong signing secret refuses, apart from what strangers send', async () => {
  const signingSecret = 'the-signing-secret-of-another-app'
  const world = await startWorld({ env: { SLACK_SIGNING_SECRET: signingSecret } })
  const { slack, ada } = world
  await ada.command('/infra help', { channel: ops }).catch(() => {})
  await slack.sendRaw({ body: 'payload=of-a-stranger' })

  const { value } = await scrape(world)

  const refused = (reason: string) => value('lockkeeper_slack_requests_refused_total', { reason })
  expect([refused('wrong-signature-for-this-workspace'), refused('wrong-signature'), refused('time-stamp-off')]).toEqual([1, 1, 0])
  expect(value('lockkeeper_acknowledgement_duration_seconds_count')).toBe(0)
  const signature = async () => {
    const page = await fetch(`http://127.0.0.1:${world.bots[0]?.opsPort}/status`)
    return ((await page.json()) as { checks: { slackSignature: { ok: boolean; problem?: string } } }).checks.slackSignature
  }
  expect(await signature()).toMatchObject({ ok: false, problem: expect.stringContaining('SLACK_SIGNING_SECRET') })

  await slack.sendRaw({ body: 'payload={}', signingSecret })
  expect(await signature()).toEqual({ ok: true })
})
